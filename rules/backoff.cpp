#include "rules/backoff.hpp"

#include "base/hash.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

duration backoff(const backoff_config& config, std::uint32_t attempt,
                 std::uint64_t entropy) noexcept {
  if (config.initial <= duration::zero()) return duration::zero();
  // The upper 53 bits, because that many fit a double: [0, 1) without rounding up to 1.
  const double share = static_cast<double>(mix64(entropy, attempt) >> 11) * 0x1p-53;
  const double wait = static_cast<double>(config.initial.count())
                      * std::pow(config.factor, static_cast<double>(attempt)) * (0.5 + share);
  if (wait < 0) return duration::zero();
  // Compared as doubles: after some fifty doublings the product fits no integer, later it is inf.
  if (!(wait < static_cast<double>(config.max.count())))
    return std::max(config.max, duration::zero());
  return duration{static_cast<duration::rep>(wait)};
}

} // namespace sluice
