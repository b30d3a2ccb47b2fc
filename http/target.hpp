#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::http {

/// What a request line asks for, decoded.
struct target {
  std::vector<std::string> segments; ///< of the path; empty for `/`
  std::vector<std::pair<std::string, std::string>> query;
};

/// Reads `/runs/7?limit=3`. In the query `+` is a space, as browsers write it.
[[nodiscard]] result<target> parse_target(std::string_view text);

} // namespace sluice::http
