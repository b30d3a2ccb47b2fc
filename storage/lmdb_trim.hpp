#pragma once

#include "messages/journal.hpp"
#include "storage/lmdb.hpp"
#include "storage/lmdb_tables.hpp"

#include <cstdint>

/// Removing what is no longer wanted, slice by slice, inside a batch's transaction.
namespace sluice {

/// The records of an ended run, newest ordinals first, then what else it has from the newest on,
/// its first record last; then its row and certificates. `t` must not hold the run as live.
void remove_run_slice(lmdb::txn& t, const lmdb_tables& db, const trim_run& o);

/// Records without run from the oldest on, up to the first record of any run and below `newest`.
void remove_log_slice(lmdb::txn& t, const lmdb_tables& db, const trim_log& o, std::uint64_t newest);

} // namespace sluice
