#include "rules/flow.hpp"

#include <algorithm>

namespace sluice {

void flow::succeeded(std::uint32_t round, std::chrono::microseconds took, timestamp now) noexcept {
  learn(took, now);
  const auto fastest =
    fastest_before_us_ > 0 ? std::min(fastest_before_us_, fastest_us_) : fastest_us_;
  const auto slack = static_cast<double>(config_.slow_slack.count());
  const bool slow = smooth_us_ > config_.slow_times * fastest + slack;
  ++answers_;
  if (!slow) {
    limit_ = std::min(limit_ + 1.0 / limit_, static_cast<double>(config_.limit_max));
  } else if (round == round_ && answers_ >= limit()) {
    // A whole round of answers, lest one straggler decides.
    shrink(config_.slow_factor);
  }
}

void flow::failed(std::uint32_t round) noexcept {
  if (round == round_) shrink(config_.failure_factor);
}

void flow::shrink(double factor) noexcept {
  limit_ = std::max(1.0, limit_ * factor);
  ++round_;
  answers_ = 0;
}

void flow::learn(std::chrono::microseconds took, timestamp now) noexcept {
  constexpr double weight = 0.1;
  const auto us = std::max(1.0, static_cast<double>(took.count()));
  if (window_ends_ == never || now >= window_ends_) {
    fastest_before_us_ = fastest_us_;
    fastest_us_ = us;
    window_ends_ = now + config_.minimum_window;
  }
  fastest_us_ = std::min(fastest_us_, us);
  smooth_us_ = smooth_us_ > 0 ? smooth_us_ + weight * (us - smooth_us_) : us;
}

} // namespace sluice
