#include "rules/retry.hpp"

#include <algorithm>

namespace sluice {

namespace retry_detail {

timestamp later(timestamp now, duration wait) noexcept {
  if (wait <= duration::zero()) return now;
  if (now > timestamp{} && wait > timestamp::max() - now) return timestamp::max();
  return now + wait;
}

} // namespace retry_detail

retry_decision after_failure(const failed_attempt& failed, std::uint32_t attempts,
                             const backoff_config& config, std::uint64_t entropy,
                             timestamp now) noexcept {
  using retry_detail::later;
  const bool attempts_left = attempts <= config.retries;
  switch (failed.kind) {
  case failure_kind::non_retriable:
    return {};
  case failure_kind::wait_until:
    return {retry_action::wait, std::max(failed.until, now), failed.slot};
  case failure_kind::retry_after:
    if (!attempts_left) return {};
    return {retry_action::again, later(now, failed.after), slot_use::keep};
  case failure_kind::retriable:
    if (!attempts_left) return {};
    const std::uint32_t retry = attempts > 0 ? attempts - 1 : 0;
    return {retry_action::again, later(now, backoff(config, retry, entropy)), slot_use::keep};
  }
  return {};
}

} // namespace sluice
