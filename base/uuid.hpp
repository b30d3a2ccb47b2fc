#pragma once

#include "base/time.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// Sixteen bytes that sort as they print. The default value is the nil UUID.
struct uuid {
  std::array<std::uint8_t, 16> bytes{};

  friend auto operator<=>(const uuid&, const uuid&) = default;
  [[nodiscard]] bool is_nil() const noexcept { return *this == uuid{}; }
};

[[nodiscard]] std::string to_string(const uuid& id);

/// Accepts the form with dashes, in either case, and nothing else.
[[nodiscard]] std::optional<uuid> parse_uuid(std::string_view text) noexcept;

/// Makes UUIDv7: ids of one source sort strictly in the order in which they were made, also when
/// the clock stands still or runs backwards. Not thread-safe: each actor that makes ids has its
/// own.
class uuid_source {
public:
  /// Random bits come from OpenSSL.
  uuid_source() = default;
  /// Random bits come from `seed`: for simulations.
  explicit uuid_source(std::uint64_t seed) noexcept : seed_{seed}, seeded_{true} {}

  [[nodiscard]] uuid next(timestamp now);
  /// Another source whose ids never meet those of this one.
  [[nodiscard]] uuid_source fork() noexcept;

private:
  std::int64_t last_ms_ = 0;
  std::uint32_t counter_ = 0;
  std::uint64_t seed_ = 0;
  bool seeded_ = false;
};

} // namespace sluice

template <>
struct std::hash<sluice::uuid> {
  /// The last eight bytes of a UUIDv7 are random, which is all that a hash table wants.
  std::size_t operator()(const sluice::uuid& id) const noexcept {
    std::size_t h = 0;
    for (std::size_t i = 8; i < 16; ++i)
      h = (h << 8) | id.bytes[i];
    return h;
  }
};
