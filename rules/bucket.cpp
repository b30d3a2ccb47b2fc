#include "rules/bucket.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

bucket_answer take(bucket b, std::uint32_t units, const bucket_config& config,
                   timestamp now) noexcept {
  if (config.period <= duration::zero()) return {{0, now}, true, now};
  const double limit = config.limit;
  const double per_ms = limit / static_cast<double>(config.period.count());
  const auto elapsed = static_cast<double>(to_millis(now)) - static_cast<double>(to_millis(b.at));
  if (elapsed > 0) b.spent = std::max(0.0, b.spent - elapsed * per_ms);
  b.at = now;
  if (config.limit == 0) return {b, false, timestamp::max()};

  // Sums of doubles are off by far less than this; without it a request could come a millisecond
  // early to the very instant that it was told.
  constexpr double slack = 1e-6;
  const double missing = b.spent + std::min<double>(units, limit) - limit;
  if (missing <= slack) {
    b.spent += units;
    return {b, true, now};
  }
  const double wait = std::ceil(missing / per_ms);
  const double room = static_cast<double>((timestamp::max() - now).count());
  if (!(wait < room)) return {b, false, timestamp::max()};
  return {b, false, now + std::max(duration{static_cast<duration::rep>(wait)}, duration{1})};
}

} // namespace sluice
