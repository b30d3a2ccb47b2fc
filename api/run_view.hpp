#pragma once

#include "base/error.hpp"
#include "messages/backfill.hpp"
#include "messages/reads.hpp"
#include "messages/work.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace sluice::api {

struct api_state;

/// What is known of a unit of a backfill: its row, which is its certificate in the end, and what it
/// does this moment.
struct unit_view {
  unit_row row;
  run_id from; ///< the backfill that the row comes from: the run itself, or a retry of this unit
  std::optional<run_look> look; ///< of its own run, while that is live
};

/// What a backfill has done itself: a retry of a unit is another run's.
struct backfill_totals {
  std::uint64_t units = 0;
  std::uint64_t live = 0;
  std::uint64_t completed = 0;
  std::uint64_t pages = 0;
  unit_counts counts;
  timestamp from{}; ///< when the first unit began
  timestamp to{};   ///< when one was heard of last
};

/// What a backfill has beside what every run has.
struct backfill_view {
  backfill_request input;
  std::optional<backfill_result> result; ///< when it came to one
  backfill_totals totals;                ///< while it runs, of the units that are shown
  std::vector<unit_view> units;          ///< by unit; of a unit that was retried the latest
  bool more = false;                     ///< there are more than `units_max`
};

/// What is known of one run.
struct run_view {
  run_found found; ///< with a row
  step_page steps; ///< of this run alone
  std::optional<run_look> look;
  std::optional<backfill_view> backfill;
};

inline constexpr std::size_t units_max = 5000;
/// Of so many live units is asked what they wait for.
inline constexpr std::size_t unit_looks_max = 200;
/// Retries of a run's units are found among so many of the newest backfills of its installation.
inline constexpr std::size_t retries_max = 100;

/// Asks for all that is known of a run; `steps` names it. An unknown one is `errc::not_found`.
/// `then` is called once, by the API's actor.
void view_run(api_state& s, load_steps steps, std::function<void(result<run_view>)> then);

} // namespace sluice::api
