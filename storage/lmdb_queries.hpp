#pragma once

#include "base/error.hpp"
#include "storage/lmdb_journal.hpp"
#include "storage/store.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reading rows, wake-ups and events of the embedded store.
namespace sluice {

[[nodiscard]] result<live_run_page> read_live_runs(lmdb_journal& j, std::optional<run_id> after,
                                                   std::size_t limit);
[[nodiscard]] result<std::vector<due_run>> read_due(lmdb_journal& j, timestamp until,
                                                    std::size_t limit);
[[nodiscard]] result<std::vector<event>> read_log_events(lmdb_journal& j, std::uint64_t after_seq,
                                                         std::size_t limit);
[[nodiscard]] result<std::vector<event>> read_topic(lmdb_journal& j, std::string_view kind,
                                                    std::string_view subject,
                                                    std::uint64_t after_seq, std::size_t limit);
[[nodiscard]] result<std::optional<event>> read_keyed_event(lmdb_journal& j, std::string_view key);
[[nodiscard]] result<std::optional<run_row>> read_row_of(lmdb_journal& j, const run_id& run);
[[nodiscard]] result<run_page> query_runs(lmdb_journal& j, std::string_view tenant,
                                          const run_filter& filter, std::optional<run_id> before,
                                          std::size_t limit);
[[nodiscard]] result<std::vector<table_row>> read_rows(lmdb_journal& j, table where,
                                                       std::string_view prefix,
                                                       std::string_view after, std::size_t limit);
[[nodiscard]] store_stats stats_of(lmdb_journal& j, const std::string& folder);

} // namespace sluice
