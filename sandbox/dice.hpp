#pragma once

#include "base/hash.hpp"

#include <cstdint>

namespace sluice::sandbox {

/// Chance that depends on the seed, on what is asked for and on how often it was before, and on
/// nothing else.
class dice {
public:
  explicit dice(std::uint64_t seed) noexcept : seed_{seed} {}

  /// `salt` tells apart the faults that may hit the same request.
  [[nodiscard]] std::uint64_t roll(std::uint64_t what, std::uint64_t nth,
                                   std::uint64_t salt) const noexcept {
    return mix64(mix64(seed_ + salt, what), nth);
  }

  /// True for that share of all rolls.
  [[nodiscard]] bool hits(double share, std::uint64_t what, std::uint64_t nth,
                          std::uint64_t salt) const noexcept {
    if (share <= 0) return false;
    return static_cast<double>(roll(what, nth, salt) >> 11) < share * 0x1p53;
  }

private:
  std::uint64_t seed_;
};

} // namespace sluice::sandbox
