#pragma once

#include "app/client.hpp"
#include "app/exit_code.hpp"

#include <string>

namespace sluice {

/// Follows a run until it has ended or is parked, and goes on when the node was restarted
/// meanwhile. A backfill shows a bar per unit on a terminal, elsewhere a line per change, and a
/// table at the end; of other runs each step is printed as it ends, and the result. With `json`
/// only the last answer. `done` only when the run completed, which for a backfill is every unit
/// (B2).
exit_code follow_run(client& node, const std::string& run, bool json);

} // namespace sluice
