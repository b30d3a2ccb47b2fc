#include "connectors/connector.hpp"

#include <algorithm>

namespace sluice {

std::string_view to_string(answer_kind kind) noexcept {
  switch (kind) {
  case answer_kind::page:
    return "page";
  case answer_kind::unauthorized:
    return "unauthorized";
  case answer_kind::limited:
    return "limited";
  case answer_kind::gone:
    return "gone";
  case answer_kind::forbidden:
    return "forbidden";
  case answer_kind::transient:
    return "transient";
  case answer_kind::malformed:
    return "malformed";
  case answer_kind::wall:
    return "wall";
  case answer_kind::refused:
    return "refused";
  }
  return "unknown";
}

void connector::authorize(http_request& request, const secret& token) const {
  request.headers.push_back({.name = "Authorization",
                             .value = "Bearer " + std::string{token.reveal()},
                             .credential = true});
}

bool has_scope(const connector& c, std::string_view entity,
               const std::vector<std::string>& granted) {
  const auto enough = c.scopes(entity);
  return enough.empty() || std::ranges::any_of(enough, [&](const std::string& scope) {
           return std::ranges::find(granted, scope) != granted.end();
         });
}

} // namespace sluice
