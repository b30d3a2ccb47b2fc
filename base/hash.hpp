#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

/// XXH3: for checksums, sharding and change detection, never against an attacker.
[[nodiscard]] std::uint64_t hash64(std::string_view data, std::uint64_t seed = 0) noexcept;

/// Mixes two numbers into one, as `hash64` would mix their bytes.
[[nodiscard]] std::uint64_t mix64(std::uint64_t a, std::uint64_t b) noexcept;

/// SHA-256 as 64 hex digits: where an attacker may choose the data.
[[nodiscard]] std::string sha256_hex(std::string_view data);

/// `bits` as 16 lower-case hex digits.
[[nodiscard]] std::string to_hex(std::uint64_t bits);

} // namespace sluice
