#include "api/routes.hpp"

#include <algorithm>
#include <optional>

namespace sluice::api {

namespace {

/// The params when the pattern matches.
std::optional<std::vector<std::string>> match(std::string_view pattern,
                                              const std::vector<std::string>& segments) {
  std::vector<std::string> params;
  for (const auto& segment : segments) {
    if (pattern.empty()) return std::nullopt;
    pattern.remove_prefix(1); // the slash
    const auto piece = pattern.substr(0, pattern.find('/'));
    pattern.remove_prefix(piece.size());
    if (piece.starts_with('{') && !segment.empty())
      params.push_back(segment);
    else if (piece != segment)
      return std::nullopt;
  }
  if (!pattern.empty()) return std::nullopt;
  return params;
}

} // namespace

std::variant<route_match, no_route> find_route(std::span<const route> table,
                                               std::string_view method,
                                               const std::vector<std::string>& segments) {
  if (method == "HEAD") method = "GET";
  std::string allow;
  for (const auto& r : table) {
    auto params = match(r.pattern, segments);
    if (!params) continue;
    if (r.method == method) return route_match{r.handle, std::move(*params)};
    allow += (allow.empty() ? "" : ", ") + std::string{r.method};
  }
  if (allow.empty()) return no_route{{404, "NOT_FOUND", "there is nothing at this path"}, ""};
  return no_route{{405, "METHOD_NOT_ALLOWED", "this path takes " + allow}, allow};
}

} // namespace sluice::api
