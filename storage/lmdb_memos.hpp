#pragma once

#include "base/error.hpp"
#include "messages/journal.hpp"
#include "storage/lmdb_journal.hpp"
#include "storage/store.hpp"

#include <cstddef>
#include <vector>

/// Reading what runs have written: memos, marks, their first and last events.
namespace sluice {

[[nodiscard]] result<step_page> read_memos(lmdb_journal& j, const std::vector<run_id>& runs,
                                           step_position after, std::size_t limit);
[[nodiscard]] result<std::vector<put_marks>> read_marks_of(lmdb_journal& j, const run_id& run);
[[nodiscard]] result<std::vector<event>> read_run_ends(lmdb_journal& j, const run_id& run);

} // namespace sluice
