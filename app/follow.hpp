#pragma once

#include "app/client.hpp"
#include "app/exit_code.hpp"

#include <string>

namespace sluice {

/// Asks until the run has ended or is parked. Prints each step as it is done and the result, or
/// with `json` only the last answer.
exit_code follow_run(client& node, const std::string& run, bool json);

} // namespace sluice
