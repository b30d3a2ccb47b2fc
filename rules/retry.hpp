#pragma once

#include "base/time.hpp"
#include "rules/backoff.hpp"

#include <cstdint>

namespace sluice {

/// What the work of a step says about its failure (P3).
enum class failure_kind : std::uint8_t {
  retriable,     ///< anything else: try again after the backoff
  non_retriable, ///< another attempt cannot help
  retry_after,   ///< try again after exactly `after`
  wait_until,    ///< not a failure of the work: run it again at `until`, no attempt is used
};

/// Does a run that waits keep its slot meanwhile (P9)?
enum class slot_use : std::uint8_t { keep, give_back };

struct failed_attempt {
  failure_kind kind = failure_kind::retriable;
  duration after{};               ///< of `retry_after`
  timestamp until{};              ///< of `wait_until`
  slot_use slot = slot_use::keep; ///< of `wait_until`

  friend bool operator==(const failed_attempt&, const failed_attempt&) = default;
};

enum class retry_action : std::uint8_t {
  again,   ///< the next attempt at `at`
  wait,    ///< the same attempt once more at `at`
  give_up, ///< the step has failed for good
};

struct retry_decision {
  retry_action action = retry_action::give_up;
  timestamp at{}; ///< `never` when it gives up; never before the `now` it was decided at
  slot_use slot = slot_use::keep;

  friend bool operator==(const retry_decision&, const retry_decision&) = default;
};

/// What follows a failed attempt. `attempts` counts the attempts used so far, this one included
/// unless it was a `wait_until`; a step has 1 + `retries` of them. A moment or a wait that has
/// passed already means now; one beyond the end of time means the end of time.
[[nodiscard]] retry_decision after_failure(const failed_attempt& failed, std::uint32_t attempts,
                                           const backoff_config& config, std::uint64_t entropy,
                                           timestamp now) noexcept;

} // namespace sluice
