#pragma once

#include "base/time.hpp"
#include "messages/ids.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct http_header {
  std::string name;
  std::string value{};
  bool credential = false; ///< never sent to another origin than that of the first URL (S12)
};

/// One request. Redirects are followed for GET and HEAD only, within the same origin.
struct http_request {
  std::string method = "GET";
  std::string url{};
  std::vector<http_header> headers{};
  std::string body{};
  // Where nothing is said, the client's own settings hold.
  std::optional<duration> timeout{}; ///< for the whole exchange
  std::optional<duration> connect_timeout{};
  std::optional<std::uint64_t> body_bytes_max{}; ///< of the response, inflated
  std::uint32_t redirects_max = 0;
};

/// What came back. `error` empty: `status` and `body` hold. Otherwise nothing is known about what
/// the other side did (an ambiguous answer counts as not delivered).
struct http_response {
  int status = 0;
  std::vector<http_header> headers{};
  std::string body{};
  std::string final_url;
  std::string error; ///< for people, with the URL without user info and query
  bool timed_out = false;
  bool too_large = false;
  bool aborted = false;
  std::chrono::microseconds elapsed{}; ///< from the first byte out, or the attempt of it

  /// The first header of that name, in any case; empty when absent.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
};

/// One of many requests that differ only in their bodies.
struct http_body {
  token id = 0;
  std::string body{};
};

} // namespace sluice
