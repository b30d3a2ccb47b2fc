#pragma once

#include "base/time.hpp"

#include <chrono>
#include <cstdint>

namespace sluice {

struct flow_config {
  std::uint32_t limit_max = 30;
  double failure_factor = 0.5; ///< of the limit is left after an answer that failed
  double slow_factor = 0.8;    ///< likewise after answers that were slow
  double slow_times = 3.0;     ///< slow: more than this times the recent minimum …
  std::chrono::microseconds slow_slack{50'000}; ///< … and this much more: below it is noise
  duration minimum_window{30'000};              ///< how long the fastest answer counts as possible
};

/// How many may be under way (B15): one more per round of good answers, fewer by a factor when the
/// other side fails, refuses for being busy, or becomes slow. An answer counts against the limit
/// only if it was sent under that limit, so that one bad moment is one step down, not thirty.
class flow {
public:
  explicit flow(flow_config config = {}) noexcept
    : config_{config}, limit_{static_cast<double>(config.limit_max)} {}

  [[nodiscard]] std::uint32_t limit() const noexcept { return static_cast<std::uint32_t>(limit_); }
  /// Goes with whatever is sent now.
  [[nodiscard]] std::uint32_t round() const noexcept { return round_; }

  void succeeded(std::uint32_t round, std::chrono::microseconds took, timestamp now) noexcept;
  void failed(std::uint32_t round) noexcept;

private:
  void shrink(double factor) noexcept;
  void learn(std::chrono::microseconds took, timestamp now) noexcept;

  flow_config config_;
  double limit_;
  std::uint32_t round_ = 0;
  std::uint32_t answers_ = 0; ///< since the last step down
  double smooth_us_ = 0;      ///< recent answers, newer ones weigh more
  // The fastest of the window before and of this one, so that the minimum forgets.
  double fastest_before_us_ = 0;
  double fastest_us_ = 0;
  timestamp window_ends_{};
};

} // namespace sluice
