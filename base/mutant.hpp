#pragma once

#include <cstdint>

namespace sluice {

/// Bugs that the simulator plants to see whether it would notice them (guides/reliability.md,
/// section 7). They exist only in what is compiled for the simulator.
enum class mutant : std::uint8_t {
  none,
  ack_before_commit,
  resend_without_probe,
  crash_not_counted,
  timers_in_memory,
  recovery_stops_at_bad_run,
  key_contains_attempt,
};

#ifdef SLUICE_SIMULATOR
inline mutant planted_mutant = mutant::none;
[[nodiscard]] inline bool mutated(mutant m) noexcept {
  return planted_mutant == m;
}
#else
[[nodiscard]] constexpr bool mutated(mutant) noexcept {
  return false;
}
#endif

} // namespace sluice
