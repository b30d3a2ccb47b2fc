#include "http/target.hpp"

#include "http/percent.hpp"

#include <algorithm>

namespace sluice::http {

namespace {

/// Cuts `rest` up to `mark` off and returns it.
std::string_view next_piece(std::string_view& rest, char mark) {
  const auto n = std::min(rest.find(mark), rest.size());
  const auto piece = rest.substr(0, n);
  rest.remove_prefix(std::min(n + 1, rest.size()));
  return piece;
}

} // namespace

result<target> parse_target(std::string_view text) {
  auto wrong = [] { return make_error(errc::bad_input, "the request target is not a path"); };
  auto query = text;
  auto path = next_piece(query, '?');
  if (!path.starts_with('/')) return wrong();
  path.remove_prefix(1);
  target made;
  if (!path.empty()) {
    const bool slash_at_end = path.ends_with('/');
    while (!path.empty()) {
      auto segment = percent_decode(next_piece(path, '/'));
      if (!segment) return wrong();
      made.segments.push_back(std::move(*segment));
    }
    if (slash_at_end) made.segments.emplace_back();
  }
  while (!query.empty()) {
    auto pair = next_piece(query, '&');
    if (pair.empty()) continue;
    auto name = percent_decode(next_piece(pair, '='), plus::is_space);
    auto value = percent_decode(pair, plus::is_space);
    if (!name || !value) return wrong();
    made.query.emplace_back(std::move(*name), std::move(*value));
  }
  return made;
}

} // namespace sluice::http
