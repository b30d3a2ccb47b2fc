#include "base/percent.hpp"

#include <algorithm>

namespace sluice {

namespace escapes {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
         || c == '.' || c == '_' || c == '~';
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The byte that an escape at `i` stands for; negative when there is no whole escape.
int escaped_at(std::string_view text, std::size_t i) {
  if (i + 2 >= text.size()) return -1;
  const int high = hex_value(text[i + 1]);
  const int low = hex_value(text[i + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

} // namespace escapes

std::string percent_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (escapes::is_unreserved(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return out;
}

std::optional<std::string> percent_decode(std::string_view text, plus p) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int byte = escapes::escaped_at(text, i);
      if (byte < 0) return std::nullopt;
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i] == '+' && p == plus::is_space ? ' ' : text[i];
    }
  }
  return out;
}

bool is_url_text(std::string_view text) noexcept {
  constexpr std::string_view reserved = ":/?#[]@!$&'()*+,;=";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && escapes::escaped_at(text, i) < 0) return false;
    if (text[i] != '%' && !escapes::is_unreserved(text[i])
        && reserved.find(text[i]) == reserved.npos) {
      return false;
    }
  }
  return true;
}

} // namespace sluice
