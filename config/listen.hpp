#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// Where the node serves its API.
struct listen_address {
  std::string host; ///< without brackets
  std::uint16_t port = 0;

  friend bool operator==(const listen_address&, const listen_address&) = default;
};

/// Reads `HOST:PORT` with a host such as `127.0.0.1`, `localhost` or `[::1]`; port 0 takes a free
/// one. Anything but loopback is refused: there are no API keys yet (S1).
[[nodiscard]] result<listen_address> parse_listen(std::string_view text);

} // namespace sluice
