#include "sandbox/shape.hpp"

#include <algorithm>
#include <cstdlib>

namespace sluice::sandbox {

namespace shapes {

constexpr auto nothing = std::string_view::npos;

std::string without_indent(std::string_view text) {
  std::string out;
  bool at_start = true;
  for (const char c : text) {
    at_start = c == '\n' || (at_start && c == ' ');
    if (!at_start) out.push_back(c);
  }
  return out;
}

} // namespace shapes

shape::shape(std::string_view text, std::span<const std::string_view> names) {
  const auto flat = shapes::without_indent(text);
  std::string_view rest = flat;
  while (!rest.empty()) {
    const auto open = rest.find('@');
    if (open == shapes::nothing) {
      pieces_.push_back({std::string{rest}, shapes::nothing});
      return;
    }
    const auto close = rest.find('@', open + 1);
    const auto name = rest.substr(open + 1, close - open - 1);
    const auto known = std::ranges::find(names, name);
    if (known == names.end()) std::abort(); // a misspelt place in a text of ours
    pieces_.push_back(
      {std::string{rest.substr(0, open)}, static_cast<std::size_t>(known - names.begin())});
    rest.remove_prefix(close + 1);
  }
}

void shape::fill(std::string& out, std::span<const std::string_view> values) const {
  for (const auto& p : pieces_) {
    out += p.text;
    if (p.place != shapes::nothing) out += values[p.place];
  }
}

} // namespace sluice::sandbox
