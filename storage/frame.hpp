#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

/// Bytes of a record's frame, out and in: varints (LEB128), zigzag for what may be negative,
/// little-endian where the size is fixed.
namespace sluice::frame {

[[nodiscard]] constexpr std::size_t varint_bytes(std::uint64_t n) noexcept {
  return (static_cast<std::size_t>(std::bit_width(n | 1)) + 6) / 7;
}

[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t n) noexcept {
  return (static_cast<std::uint64_t>(n) << 1) ^ static_cast<std::uint64_t>(n >> 63);
}

[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t n) noexcept {
  return static_cast<std::int64_t>(n >> 1) ^ -static_cast<std::int64_t>(n & 1);
}

/// Writes to memory that the caller has measured before.
class writer {
public:
  explicit writer(char* out) noexcept : at_{out} {}

  void u8(std::uint8_t n) noexcept { *at_++ = static_cast<char>(n); }
  void u64(std::uint64_t n) noexcept {
    for (int i = 0; i < 8; ++i, n >>= 8)
      *at_++ = static_cast<char>(n & 0xFF);
  }
  void varint(std::uint64_t n) noexcept {
    for (; n >= 0x80; n >>= 7)
      *at_++ = static_cast<char>((n & 0x7F) | 0x80);
    *at_++ = static_cast<char>(n);
  }
  void bytes(std::string_view data) noexcept {
    if (!data.empty()) std::memcpy(at_, data.data(), data.size());
    at_ += data.size();
  }
  [[nodiscard]] char* end() const noexcept { return at_; }

private:
  char* at_;
};

/// Reads what may be garbage: after the first thing that does not fit, everything reads as zero or
/// empty and `ok` stays false.
class reader {
public:
  explicit reader(std::string_view data) noexcept : rest_{data} {}

  std::uint8_t u8() noexcept {
    auto one = bytes(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one[0]);
  }
  std::uint64_t u64() noexcept {
    std::uint64_t n = 0;
    auto eight = bytes(8);
    for (std::size_t i = eight.size(); i-- > 0;) {
      n = (n << 8) | static_cast<unsigned char>(eight[i]);
    }
    return n;
  }
  std::uint64_t varint() noexcept {
    std::uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto b = u8();
      if (!ok_ || (shift == 63 && b > 1)) break;
      n |= static_cast<std::uint64_t>(b & 0x7F) << shift;
      if (b < 0x80) return n;
    }
    ok_ = false;
    return 0;
  }
  std::int64_t signed_varint() noexcept { return unzigzag(varint()); }
  std::string_view bytes(std::uint64_t count) noexcept {
    if (!ok_ || count > rest_.size()) {
      ok_ = false;
      return {};
    }
    auto part = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return part;
  }
  std::string_view rest() noexcept { return bytes(rest_.size()); }

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }

private:
  std::string_view rest_;
  bool ok_ = true;
};

} // namespace sluice::frame
