#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice {

/// A vector of plain values that costs 16 bytes when empty and grows by a quarter, because the
/// journal keeps one or two for every live run.
template <class T>
class compact_vector {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  compact_vector() = default;
  compact_vector(const compact_vector& other) {
    for (const auto& value : other)
      push_back(value);
  }
  compact_vector& operator=(const compact_vector&) = delete;
  compact_vector(compact_vector&& other) noexcept
    : data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)},
      capacity_{std::exchange(other.capacity_, 0)} {}
  compact_vector& operator=(compact_vector&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~compact_vector() { std::free(data_); }

  void push_back(T value) {
    if (size_ == capacity_) grow();
    data_[size_++] = value;
  }
  /// Drops what lies behind the first `count`.
  void shrink(std::uint32_t count) noexcept { size_ = std::min(size_, count); }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::uint32_t i) noexcept { return data_[i]; }
  const T& operator[](std::uint32_t i) const noexcept { return data_[i]; }
  T& back() noexcept { return data_[size_ - 1]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }

private:
  void grow() {
    const std::uint32_t wanted = size_ + std::max<std::uint32_t>(4, size_ / 4);
    if (wanted < size_) throw std::bad_alloc{};
    auto* bigger = static_cast<T*>(std::realloc(data_, wanted * sizeof(T)));
    if (bigger == nullptr) throw std::bad_alloc{};
    data_ = bigger;
    capacity_ = wanted;
  }

  T* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

} // namespace sluice
