#include "base/json.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace sluice::json {

namespace writing {

constexpr std::string_view hex = "0123456789abcdef";
constexpr std::string_view replacement = "\xEF\xBF\xBD"; // U+FFFD

/// Bytes that stand for themselves inside a string.
constexpr auto plain = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x20; c < 0x80; ++c)
    table[c] = c != '"' && c != '\\';
  return table;
}();

constexpr std::uint8_t byte_at(std::string_view text, std::size_t i) noexcept {
  return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0;
}

constexpr bool is_tail(std::uint8_t byte) noexcept {
  return (byte & 0xC0U) == 0x80U;
}

/// How many bytes the UTF-8 sequence at `i` has; 0: none begins there (RFC 3629, so no surrogates,
/// no overlong forms, nothing above U+10FFFF).
constexpr std::size_t utf8_length(std::string_view text, std::size_t i) noexcept {
  const auto a = byte_at(text, i);
  const auto b = byte_at(text, i + 1);
  if (a >= 0xC2 && a <= 0xDF) return is_tail(b) ? 2 : 0;
  if (!is_tail(b) || !is_tail(byte_at(text, i + 2))) return 0;
  if (a == 0xE0) return b >= 0xA0 ? 3 : 0;
  if (a == 0xED) return b <= 0x9F ? 3 : 0;
  if (a >= 0xE1 && a <= 0xEF) return 3;
  if (!is_tail(byte_at(text, i + 3))) return 0;
  if (a == 0xF0) return b >= 0x90 ? 4 : 0;
  if (a >= 0xF1 && a <= 0xF3) return 4;
  if (a == 0xF4) return b <= 0x8F ? 4 : 0;
  return 0;
}

void append_control(std::string& out, char c) {
  switch (c) {
  case '"':
    out += "\\\"";
    return;
  case '\\':
    out += "\\\\";
    return;
  case '\n':
    out += "\\n";
    return;
  case '\r':
    out += "\\r";
    return;
  case '\t':
    out += "\\t";
    return;
  case '\b':
    out += "\\b";
    return;
  case '\f':
    out += "\\f";
    return;
  default:
    break;
  }
  const auto byte = static_cast<std::uint8_t>(c);
  out += "\\u00";
  out += hex[byte >> 4];
  out += hex[byte & 15];
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t end = i;
    while (end < text.size() && plain[static_cast<std::uint8_t>(text[end])])
      ++end;
    out.append(text, i, end - i);
    i = end;
    if (i == text.size()) break;
    if (static_cast<std::uint8_t>(text[i]) < 0x80) {
      append_control(out, text[i++]);
    } else if (const std::size_t length = utf8_length(text, i)) {
      out.append(text, i, length);
      i += length;
    } else {
      out += replacement;
      ++i;
    }
  }
  out += '"';
}

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out.append(text.data(), end);
}

} // namespace writing

void writer::comma() {
  if (!fresh_) text_ += ',';
  fresh_ = false;
}

writer& writer::obj() {
  comma();
  text_ += '{';
  closers_ += '}';
  fresh_ = true;
  return *this;
}

writer& writer::arr() {
  comma();
  text_ += '[';
  closers_ += ']';
  fresh_ = true;
  return *this;
}

writer& writer::end() {
  text_ += closers_.back();
  closers_.pop_back();
  fresh_ = false;
  return *this;
}

writer& writer::key(std::string_view name) {
  comma();
  writing::append_quoted(text_, name);
  text_ += ':';
  fresh_ = true;
  return *this;
}

writer& writer::str(std::string_view text) {
  comma();
  writing::append_quoted(text_, text);
  return *this;
}

writer& writer::num(std::int64_t value) {
  comma();
  writing::append_number(text_, value);
  return *this;
}

writer& writer::num(std::uint64_t value) {
  comma();
  writing::append_number(text_, value);
  return *this;
}

writer& writer::num(double value) {
  if (!std::isfinite(value)) return null();
  comma();
  const std::size_t from = text_.size();
  writing::append_number(text_, value);
  // Without a fraction it is an integer for those who read it: "-0" loses its sign there, and more
  // than 64 bits are refused.
  const bool integer = text_.find_first_of(".e", from) == std::string::npos;
  if (integer && (std::abs(value) >= 0x1p53 || (value == 0 && std::signbit(value)))) text_ += ".0";
  return *this;
}

writer& writer::boolean(bool value) {
  comma();
  text_ += value ? "true" : "false";
  return *this;
}

writer& writer::null() {
  comma();
  text_ += "null";
  return *this;
}

writer& writer::raw(std::string_view text) {
  comma();
  text_ += text;
  return *this;
}

std::string quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  writing::append_quoted(out, text);
  return out;
}

} // namespace sluice::json
