#include "sandbox/rates.hpp"

#include <algorithm>

namespace sluice::sandbox {

namespace rating {

constexpr std::uint32_t kept_limit_max = 20'000;

} // namespace rating

rate_answer rates::take(connection_ref c, timestamp now) {
  const auto& o = world_.about();
  const std::lock_guard hold{mutex_};
  auto& b = budgets_[c];
  if (b.begins == never || now >= b.begins + o.rate_window) {
    b.begins = now;
    b.used = 0;
  }
  rate_answer a;
  a.limit = o.rate_limit;
  a.exceeded = b.used >= o.rate_limit;
  a.too_early = now < b.held_until;
  if (!a.exceeded) ++b.used;
  a.used = b.used;
  a.remaining = o.rate_limit - b.used;
  // Rounded up: who waits until then is not too early.
  a.reset_s = (to_millis(b.begins + o.rate_window) + 999) / 1000;
  if (o.rate_limit <= rating::kept_limit_max) {
    while (!b.recent.empty() && b.recent.front() <= now - o.rate_window)
      b.recent.pop_front();
    if (b.recent.size() < 2 * std::size_t{rating::kept_limit_max}) b.recent.push_back(now);
    a.in_window = b.recent.size();
  }
  return a;
}

void rates::hold(connection_ref c, timestamp until) {
  const std::lock_guard hold{mutex_};
  auto& b = budgets_[c];
  b.held_until = std::max(b.held_until, until);
}

} // namespace sluice::sandbox
