#pragma once

#include "base/time.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// Engine time: the wall clock, read once at start, carried on by steady time. A jump of the wall
/// clock under a running node therefore moves nothing (I20). It is a value and is passed in; who
/// holds steady time (an actor's clock, virtual in tests) asks `now(steady)`.
class engine_clock {
public:
  engine_clock() = default;
  engine_clock(timestamp wall_at_start, steady_point steady_at_start) noexcept
    : wall_{wall_at_start}, steady_{steady_at_start} {}

  /// Rounded down, so that nothing due at `t` is seen as due before `t`.
  [[nodiscard]] timestamp now(steady_point steady) const noexcept {
    return wall_ + std::chrono::floor<duration>(steady - steady_);
  }

  /// The steady instant at which `now` first answers `t`.
  [[nodiscard]] steady_point when(timestamp t) const noexcept { return steady_ + (t - wall_); }

private:
  timestamp wall_{};
  steady_point steady_{};
};

/// Reads both clocks. Only `app` calls this, once per process.
[[nodiscard]] engine_clock start_engine_clock();

/// RFC 3339 in UTC with milliseconds: `2026-11-18T11:49:05.120Z`; empty for `never`.
[[nodiscard]] std::string to_rfc3339(timestamp t);

} // namespace sluice
