#pragma once

#include "http/problem.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice::api {

struct api_state;
class call;

/// Answers a call, now or when the actors that it asks have answered.
using route_handler = void (*)(api_state&, const std::shared_ptr<call>&);

/// `{…}` in a pattern stands for one segment.
struct route {
  std::string_view method;
  std::string_view pattern;
  route_handler handle;
};

struct route_match {
  route_handler handle = nullptr;
  std::vector<std::string> params; ///< what stands for each `{…}`
};

struct no_route {
  http::problem why; ///< 404 or 405
  std::string allow; ///< of a 405: the methods that there are
};

/// HEAD is answered as GET is.
[[nodiscard]] std::variant<route_match, no_route>
find_route(std::span<const route> table, std::string_view method,
           const std::vector<std::string>& segments);

} // namespace sluice::api
