#pragma once

#include "base/hash.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <vector>

namespace sluice::simulation {

/// All chance of a simulation: the same seed and purpose give the same draws. Each purpose has dice
/// of its own, so that one more draw here does not change what is drawn there.
class dice {
public:
  dice(std::uint64_t seed, std::uint64_t purpose) : seed_{mix64(seed, purpose)} {}

  std::uint64_t roll() { return mix64(seed_, next_++); }
  /// From 0 to `end` - 1.
  std::uint64_t below(std::uint64_t end) { return roll() % end; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + below(most - least + 1);
  }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  duration millis(std::uint64_t least, std::uint64_t most) {
    return duration{static_cast<std::int64_t>(between(least, most))};
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

} // namespace sluice::simulation
