#include "messages/http.hpp"

#include <algorithm>

namespace sluice {

namespace http_names {

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

} // namespace http_names

std::string_view http_response::header(std::string_view name) const noexcept {
  for (const auto& h : headers) {
    if (http_names::same(h.name, name)) return h.value;
  }
  return {};
}

} // namespace sluice
