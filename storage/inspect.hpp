#pragma once

#include "base/error.hpp"
#include "messages/ids.hpp"
#include "messages/reads.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What `sluice journal stats|verify|dump` shows. All of it opens the folder read-only and may run
/// beside the node that writes there.
namespace sluice {

[[nodiscard]] result<store_stats> journal_stats(const std::string& folder);

struct verify_report {
  std::uint64_t records = 0;
  std::uint64_t batches = 0;
  std::uint64_t runs = 0;
  std::uint64_t live_runs = 0;
  std::uint64_t rows = 0;    ///< of the small tables
  std::uint64_t removed = 0; ///< records that trims took away, ever
  std::uint64_t problems = 0;
  std::vector<std::string> details; ///< one sentence for each of the first `verify_details_max`
  std::vector<run_id> corrupt_runs; ///< runs with a record or row that fails its checksum

  [[nodiscard]] bool good() const noexcept { return problems == 0; }
};
inline constexpr std::size_t verify_details_max = 100;

/// Reads everything in one transaction, which holds back the reuse of pages while it lasts (F26):
/// checksums, the chain of batches (I5), epochs that never fall (I3), and whether rows, lists,
/// wake-ups and keys agree with the log.
[[nodiscard]] result<verify_report> verify_journal(const std::string& folder);

/// Run rows, then log records, then rows of the small tables, one line of JSON each; with `run`
/// only what belongs to that run. Stops early when `line` answers false.
[[nodiscard]] error dump_journal(const std::string& folder, std::optional<run_id> run,
                                 const std::function<bool(std::string_view)>& line);

} // namespace sluice
