#include "base/json_mistake.hpp"

#include <algorithm>

namespace sluice::json {

namespace reading {

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

constexpr bool is_hex(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Recursive descent over RFC 8259. Each function leaves `at` behind what it read, or at the
/// mistake, which `what` then names.
class reader {
public:
  explicit reader(std::string_view text) : text_{text} {}

  bool whole_text() {
    if (!value(0)) return false;
    space();
    return done() || fail("unexpected text after the value");
  }

  [[nodiscard]] mistake found() const {
    const auto before = text_.substr(0, at_);
    const auto lines = std::ranges::count(before, '\n');
    const auto line_start = before.rfind('\n');
    return {static_cast<std::size_t>(lines) + 1,
            line_start == std::string_view::npos ? at_ + 1 : at_ - line_start, what_};
  }

private:
  [[nodiscard]] bool done() const noexcept { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const noexcept { return done() ? '\0' : text_[at_]; }

  bool fail(const char* message) noexcept {
    what_ = done() ? "the text ends too early" : message;
    return false;
  }

  bool accept(char c) noexcept {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void space() noexcept {
    while (!done() && (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n'))
      ++at_;
  }

  bool value(std::size_t depth) {
    space();
    switch (peek()) {
    case '{':
      return object(depth);
    case '[':
      return array(depth);
    case '"':
      return string();
    case 't':
      return word("true");
    case 'f':
      return word("false");
    case 'n':
      return word("null");
    default:
      return number();
    }
  }

  bool too_deep(std::size_t start) noexcept {
    at_ = start;
    return fail("nested too deeply");
  }

  bool object(std::size_t depth) {
    const std::size_t start = at_++;
    space();
    if (accept('}')) return true;
    if (depth == depth_max) return too_deep(start);
    do {
      space();
      if (peek() != '"') return fail("expected a name in quotes");
      if (!string()) return false;
      space();
      if (!accept(':')) return fail("expected ':'");
      if (!value(depth + 1)) return false;
      space();
    } while (accept(','));
    return accept('}') || fail("expected ',' or '}'");
  }

  bool array(std::size_t depth) {
    const std::size_t start = at_++;
    space();
    if (accept(']')) return true;
    if (depth == depth_max) return too_deep(start);
    do {
      if (!value(depth + 1)) return false;
      space();
    } while (accept(','));
    return accept(']') || fail("expected ',' or ']'");
  }

  bool string() {
    ++at_;
    while (!done() && peek() != '"') {
      if (static_cast<unsigned char>(peek()) < 0x20) return fail("control character in a string");
      if (!accept('\\')) {
        ++at_;
      } else if (!escape()) {
        return false;
      }
    }
    return accept('"') || fail("");
  }

  bool escape() {
    if (accept('u')) {
      for (int i = 0; i < 4; ++i, ++at_) {
        if (!is_hex(peek())) return fail("expected four hex digits");
      }
      return true;
    }
    if (std::string_view{"\"\\/bfnrt"}.find(peek()) == std::string_view::npos || done())
      return fail("unknown escape");
    ++at_;
    return true;
  }

  bool word(std::string_view expected) {
    for (const char c : expected) {
      if (!accept(c)) return fail("expected a value");
    }
    return true;
  }

  bool digits() {
    if (!is_digit(peek())) return fail("expected a digit");
    while (is_digit(peek()))
      ++at_;
    return true;
  }

  bool number() {
    const std::size_t start = at_;
    if (!accept('-') && !is_digit(peek())) return fail("expected a value");
    if (accept('0')) {
      if (is_digit(peek())) return fail("a number must not begin with zero");
    } else if (!digits()) {
      return false;
    }
    bool integer = true;
    if (accept('.')) {
      integer = false;
      if (!digits()) return false;
    }
    if (accept('e') || accept('E')) {
      integer = false;
      if (!accept('+')) accept('-');
      if (!digits()) return false;
    }
    // A heuristic for the message only: 2^64 has 20 digits.
    if (integer && at_ - start >= 20) {
      at_ = start;
      return fail("the integer has more than 64 bits");
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const char* what_ = "";
};

} // namespace reading

std::optional<mistake> find_mistake(std::string_view text) {
  reading::reader r{text};
  if (r.whole_text()) return std::nullopt;
  return r.found();
}

} // namespace sluice::json
