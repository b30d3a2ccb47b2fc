#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace sluice {

/// A string that cannot be printed, serialized or compared by accident, and is wiped when it goes
/// away (S6). `reveal` is the one way to its text.
class secret {
public:
  secret() = default;
  explicit secret(std::string text) : text_{std::move(text)} {}
  secret(const secret&) = default;
  secret(secret&& other) noexcept : text_{std::move(other.text_)} { other.wipe(); }
  secret& operator=(const secret& other) {
    if (this != &other) {
      wipe();
      text_ = other.text_;
    }
    return *this;
  }
  secret& operator=(secret&& other) noexcept {
    if (this != &other) {
      wipe();
      text_ = std::move(other.text_);
      other.wipe();
    }
    return *this;
  }
  ~secret() { wipe(); }

  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  [[nodiscard]] std::string_view reveal() const noexcept { return text_; }

private:
  void wipe() noexcept {
    volatile char* bytes = text_.data();
    for (std::size_t i = 0; i < text_.size(); ++i)
      bytes[i] = 0;
    text_.clear();
  }

  std::string text_;
};

} // namespace sluice
