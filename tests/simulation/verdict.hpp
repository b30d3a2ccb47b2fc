#pragma once

#include "messages/ids.hpp"
#include "storage/memory_disk.hpp"
#include "tests/simulation/findings.hpp"
#include "tests/simulation/journal_watch.hpp"
#include "tests/simulation/program.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice::simulation {

/// What was done to the runs from outside, as far as it excuses how they ended.
struct history {
  std::vector<program> programs;          ///< that were asked for
  std::map<std::string, run_id> accepted; ///< program → run, as the node answered
  std::set<std::string> events;           ///< keys of events that the node acknowledged
  std::set<run_id> cancels;               ///< somebody asked to cancel these
  std::set<std::string> stops; ///< programs for which an event was published that cancels
  std::set<run_id> damaged;
  bool restarted_hard = false; ///< at least one crash
  bool jumped = false;         ///< the wall clock, between two boots
};

/// Runs that wait for something which only a person can mend: damaged ones, those that wait for
/// them, and those behind them in a queue.
[[nodiscard]] std::set<run_id> held_up(const memory_disk& disk, const history& h);

/// What was acknowledged is there (I1).
void check_acknowledged(const memory_disk& disk, const history& h, findings& found);

/// Has every run ended, or does it wait for a person?
[[nodiscard]] bool is_finished(const memory_disk& disk, const history& h);

/// Every run ended as its program and its history say (P5 to P7, P11 to P13, I17).
void check_ends(const memory_disk& disk, const journal_watch& journal, const history& h,
                findings& found);

} // namespace sluice::simulation
