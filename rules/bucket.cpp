#include "rules/bucket.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

bucket_answer take(bucket b, std::uint32_t units, const bucket_config& config,
                   timestamp now) noexcept {
  if (config.period <= duration::zero()) return {{0, now}, true, now};
  const double limit = config.limit;
  const double per_ms = limit / static_cast<double>(config.period.count());
  const auto spent_after = [&](double elapsed) {
    return std::max(0.0, b.spent - elapsed * per_ms);
  };
  const auto elapsed = static_cast<double>(to_millis(now)) - static_cast<double>(to_millis(b.at));
  if (elapsed > 0) b.spent = spent_after(elapsed);
  b.at = now;
  if (config.limit == 0) return {b, false, timestamp::max()};

  // Doubles are off by some 1e-16 of the limit: more than that is allowed for, and it is less than
  // a millisecond's refill for any period below thirty years.
  const double room = limit * (1 + 1e-12) - std::min<double>(units, limit);
  if (b.spent <= room) {
    b.spent += units;
    return {b, true, now};
  }
  // Rounding may miss the first sufficient millisecond by one, so it is found by trying.
  double wait = std::ceil((b.spent - room) / per_ms);
  if (!(wait < static_cast<double>((timestamp::max() - now).count())))
    return {b, false, timestamp::max()};
  if (wait > 1 && spent_after(wait - 1) <= room) wait -= 1;
  if (spent_after(wait) > room) wait += 1;
  return {b, false, now + duration{static_cast<duration::rep>(wait)}};
}

} // namespace sluice
