#pragma once

#include <cstdint>

namespace sluice {

/// What the store knows about a live run's crashes when a node takes it over.
struct crash_history {
  std::uint32_t crashes = 0;         ///< as the run's row has it
  std::uint64_t crash_seq = 0;       ///< head of the log when that was written
  std::uint64_t last_result_seq = 0; ///< newest step result or delivery mark; 0: none
  bool clean = false;                ///< the last node ended by ordered shutdown
  bool only_waits = false; ///< the newest record is a registered wait, no step is open beside it

  friend bool operator==(const crash_history&, const crash_history&) = default;
};

struct crash_config {
  std::uint32_t alone_from = 3; ///< crashes from which on a run is started apart from its like
  std::uint32_t crashes_max = 10;
};

enum class restart_mode : std::uint8_t {
  normal,
  alone, ///< one such run at a time, beside the others: it may be what kills the process
  park,  ///< not at all until a person looked (I17)
};

struct crash_verdict {
  std::uint32_t crashes = 0; ///< for the row, in the commit immediately before the start
  restart_mode mode = restart_mode::normal;

  friend bool operator==(const crash_verdict&, const crash_verdict&) = default;
};

/// The count as it stands: a result that was committed after the count was raised takes it back to
/// 0.
[[nodiscard]] std::uint32_t effective_crashes(const crash_history& h) noexcept;

/// How to start a run again, and the count to commit before that. The end of the last node counts
/// as a crash of this run unless it was an ordered shutdown or the run merely waited. A run that is
/// only queued (`alone`) is not committed and so not counted: it is judged again at the next
/// recovery.
[[nodiscard]] crash_verdict judge_restart(const crash_history& h,
                                          const crash_config& config) noexcept;

} // namespace sluice
