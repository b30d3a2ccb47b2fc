#include "base/hash.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstdlib>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice {

namespace hash_text {

constexpr std::string_view hex = "0123456789abcdef";

} // namespace hash_text

std::uint64_t hash64(std::string_view data, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(data.data(), data.size(), seed);
}

std::uint64_t mix64(std::uint64_t a, std::uint64_t b) noexcept {
  const std::array<std::uint64_t, 2> both{a, b};
  return XXH3_64bits(both.data(), sizeof both);
}

std::string sha256_hex(std::string_view data) {
  std::array<unsigned char, 32> digest{};
  unsigned length = 0;
  // Fails only when OpenSSL itself is broken; a wrong digest must never be taken for a right one.
  if (EVP_Digest(data.data(), data.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1
      || length != digest.size())
    std::abort();
  std::string text;
  text.reserve(64);
  for (const unsigned char byte : digest) {
    text += hash_text::hex[byte >> 4];
    text += hash_text::hex[byte & 15];
  }
  return text;
}

std::string to_hex(std::uint64_t bits) {
  std::string text(16, '0');
  for (auto at = text.rbegin(); at != text.rend(); ++at, bits >>= 4)
    *at = hash_text::hex[bits & 15];
  return text;
}

} // namespace sluice
