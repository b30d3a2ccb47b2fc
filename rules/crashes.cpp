#include "rules/crashes.hpp"

#include <limits>

namespace sluice {

std::uint32_t effective_crashes(const crash_history& h) noexcept {
  return h.last_result_seq > h.crash_seq ? 0 : h.crashes;
}

crash_verdict judge_restart(const crash_history& h, const crash_config& config) noexcept {
  std::uint32_t crashes = effective_crashes(h);
  const bool counts = !h.clean && !h.only_waits;
  if (counts && crashes < std::numeric_limits<std::uint32_t>::max()) ++crashes;
  if (crashes >= config.crashes_max) return {crashes, restart_mode::park};
  if (crashes >= config.alone_from) return {crashes, restart_mode::alone};
  return {crashes, restart_mode::normal};
}

} // namespace sluice
