#include "base/uuid.hpp"

#include <openssl/rand.h>

#include <cstdlib>
#include <cstring>

namespace sluice {

namespace uuid_bits {

constexpr std::string_view hex = "0123456789abcdef";
constexpr std::uint32_t counter_max = 0xFFF;

/// One call for many ids: a call for each would cost a microsecond.
std::uint64_t from_openssl() {
  thread_local std::array<unsigned char, 512> pool;
  thread_local std::size_t left = 0;
  if (left == 0) {
    // Without randomness ids could repeat; nothing that follows would be safe.
    if (RAND_bytes(pool.data(), static_cast<int>(pool.size())) != 1) std::abort();
    left = pool.size();
  }
  std::uint64_t bits = 0;
  left -= sizeof bits;
  std::memcpy(&bits, pool.data() + left, sizeof bits);
  return bits;
}

/// SplitMix64.
std::uint64_t from_seed(std::uint64_t& seed) noexcept {
  seed += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = seed;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

int digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool dash_at(std::size_t i) noexcept {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

} // namespace uuid_bits

std::string to_string(const uuid& id) {
  std::string text;
  text.reserve(36);
  for (const std::uint8_t byte : id.bytes) {
    if (uuid_bits::dash_at(text.size())) text += '-';
    text += uuid_bits::hex[byte >> 4];
    text += uuid_bits::hex[byte & 15];
  }
  return text;
}

std::optional<uuid> parse_uuid(std::string_view text) noexcept {
  if (text.size() != 36) return std::nullopt;
  uuid id;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (uuid_bits::dash_at(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int value = uuid_bits::digit(text[i]);
    if (value < 0) return std::nullopt;
    auto& byte = id.bytes[digits / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
    ++digits;
  }
  return id;
}

uuid_source uuid_source::fork() noexcept {
  return seeded_ ? uuid_source{uuid_bits::from_seed(seed_)} : uuid_source{};
}

uuid uuid_source::next(timestamp now) {
  const std::int64_t ms = to_millis(now);
  if (ms > last_ms_) {
    last_ms_ = ms;
    counter_ = 0;
  } else if (++counter_ > uuid_bits::counter_max) {
    // More than 4096 ids in a millisecond: borrow from the next one.
    ++last_ms_;
    counter_ = 0;
  }
  const std::uint64_t random = seeded_ ? uuid_bits::from_seed(seed_) : uuid_bits::from_openssl();
  const auto high = static_cast<std::uint64_t>(last_ms_) << 16 | 0x7000U | counter_;
  const auto low = (random & 0x3FFF'FFFF'FFFF'FFFFULL) | 0x8000'0000'0000'0000ULL;
  uuid id;
  for (std::size_t i = 0; i < 8; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    id.bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  return id;
}

} // namespace sluice
