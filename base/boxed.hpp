#pragma once

#include <memory>
#include <utility>

namespace sluice {

/// A large value inside a small one: moves as a pointer, copies as a value, is never empty unless
/// moved from.
template <class T>
class boxed {
public:
  boxed() : value_{std::make_unique<T>()} {}
  boxed(T value) : value_{std::make_unique<T>(std::move(value))} {}
  boxed(const boxed& other) : value_{std::make_unique<T>(*other.value_)} {}
  boxed(boxed&&) noexcept = default;
  boxed& operator=(const boxed& other) {
    if (this != &other) value_ = std::make_unique<T>(*other.value_);
    return *this;
  }
  boxed& operator=(boxed&&) noexcept = default;
  ~boxed() = default;

  T& operator*() noexcept { return *value_; }
  const T& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return value_.get(); }
  const T* operator->() const noexcept { return value_.get(); }

private:
  std::unique_ptr<T> value_;
};

/// An optional whose value is seldom there and takes no room while it is not.
template <class T>
class rare {
public:
  rare() = default;
  rare& operator=(T value) {
    value_ = std::make_unique<T>(std::move(value));
    return *this;
  }

  [[nodiscard]] explicit operator bool() const noexcept { return value_ != nullptr; }
  T& operator*() noexcept { return *value_; }
  const T& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return value_.get(); }
  const T* operator->() const noexcept { return value_.get(); }
  void reset() noexcept { value_.reset(); }

private:
  std::unique_ptr<T> value_;
};

} // namespace sluice
