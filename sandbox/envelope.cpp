#include "sandbox/envelope.hpp"

#include <cstring>

namespace sluice::sandbox {

namespace scanning {

constexpr int depth_max = 64;

/// A place in a JSON text that moves forward over whole values. `false` anywhere means broken.
class scanner {
public:
  explicit scanner(std::string_view text) : at_{text.data()}, end_{text.data() + text.size()} {}

  void spaces() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t'))
      ++at_;
  }

  bool take(char c) {
    spaces();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  [[nodiscard]] char peek() {
    spaces();
    return at_ == end_ ? '\0' : *at_;
  }

  bool string(std::string_view& inside) {
    if (!take('"')) return false;
    const char* begin = at_;
    while (true) {
      const auto* quote =
        static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
      if (quote == nullptr) return false;
      const char* slash = quote;
      while (slash != begin && slash[-1] == '\\')
        --slash;
      at_ = quote + 1;
      if ((quote - slash) % 2 == 0) {
        inside = {begin, static_cast<std::size_t>(quote - begin)};
        return true;
      }
    }
  }

  bool scalar(std::string_view& token) {
    spaces();
    const char* begin = at_;
    while (at_ != end_ && std::strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *at_) != nullptr
           && *at_ != '\0')
      ++at_;
    token = {begin, static_cast<std::size_t>(at_ - begin)};
    return at_ != begin;
  }

  bool value(std::string_view& whole, int depth = 0) {
    spaces();
    const char* begin = at_;
    std::string_view ignored;
    const char first = peek();
    bool good = false;
    if (first == '"')
      good = string(ignored);
    else if (first == '{')
      good =
        depth < depth_max && object([&](std::string_view) { return value(ignored, depth + 1); });
    else if (first == '[')
      good = depth < depth_max && array(depth);
    else
      good = scalar(ignored);
    whole = {begin, static_cast<std::size_t>(at_ - begin)};
    return good;
  }

  /// Calls `member(key)` for each member, which takes its value.
  template <class Member>
  bool object(Member member) {
    if (!take('{')) return false;
    if (take('}')) return true;
    std::string_view key;
    do {
      if (!string(key) || !take(':') || !member(key)) return false;
    } while (take(','));
    return take('}');
  }

  /// Takes `bytes` if the text goes on behind them as it may behind a member's value.
  bool leap(std::size_t bytes, std::string_view& whole) {
    spaces();
    if (bytes == 0 || static_cast<std::size_t>(end_ - at_) <= bytes || at_[bytes - 1] != '}')
      return false;
    scanner behind{*this};
    behind.at_ += bytes;
    if (behind.peek() != ',' && behind.peek() != '}') return false;
    whole = {at_, bytes};
    at_ += bytes;
    return true;
  }

  [[nodiscard]] bool at_end() {
    spaces();
    return at_ == end_;
  }

private:
  bool array(int depth) {
    std::string_view ignored;
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!value(ignored, depth + 1)) return false;
    } while (take(','));
    return take(']');
  }

  const char* at_;
  const char* end_;
};

bool is_item(std::string_view key) {
  return key == "pull_request" || key == "issue" || key == "release" || key == "deployment";
}

} // namespace scanning

std::optional<envelope>
read_envelope(std::string_view body,
              const std::function<std::size_t(std::string_view)>& length_of) {
  scanning::scanner in{body};
  envelope e;
  std::string_view ignored;
  auto payload_member = [&](std::string_view key) {
    if (!scanning::is_item(key) || in.peek() != '{') return in.value(ignored);
    e.item_key = key;
    const auto known = length_of && !e.delivery.empty() ? length_of(e.delivery) : 0;
    return in.leap(known, e.item) || in.value(e.item);
  };
  auto member = [&](std::string_view key) {
    if (key == "connectionId") return in.string(e.connection);
    if (key == "orgId") return in.string(e.org);
    if (key == "deliveryId") return in.string(e.delivery);
    if (key == "eventType") return in.string(e.event_type);
    if (key == "receivedAt") return in.scalar(e.received_at);
    if (key == "payload") return in.object(payload_member);
    return in.value(ignored);
  };
  if (!in.object(member) || !in.at_end()) return std::nullopt;
  return e;
}

std::optional<envelope> read_envelope(std::string_view body) {
  return read_envelope(body, {});
}

} // namespace sluice::sandbox
