#pragma once

#include "messages/run.hpp"

namespace sluice {

/// May a row that says `from` be replaced by one that says `to`?
///
/// Nothing follows a terminal status, not even itself (I22). A run that has started never waits for
/// its first slot again unless a person parked it and sends it back. A parked run does not succeed
/// without running again. A run may end before its first step.
[[nodiscard]] bool may_follow(run_status from, run_status to) noexcept;

} // namespace sluice
