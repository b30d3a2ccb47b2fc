#pragma once

#include "storage/event_index.hpp"
#include "storage/lmdb.hpp"
#include "storage/lmdb_tables.hpp"
#include "storage/run_index.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace sluice {

/// What the writing and the reading half of the embedded store share: the file, and what is in
/// memory of it. The indexes hold only what is committed.
struct lmdb_journal {
  explicit lmdb_journal(lmdb::env e) : env{std::move(e)} {}

  lmdb::env env;
  lmdb_tables db;
  std::string store_id;
  std::uint64_t epoch = 0;

  /// Held shortly, never over I/O. Only the writer changes what lies below, and then holds it; the
  /// writer therefore looks up runs without it.
  std::mutex lock;
  run_index runs;
  event_index events;
  std::uint64_t head = 0;
  std::uint64_t corrupt = 0; ///< records that failed their checksum since the start
};

/// Fills both indexes and the head from the log: one scan from the oldest live run on.
[[nodiscard]] error rebuild_indexes(lmdb_journal& j);

/// Opens a journal beside whoever writes it: no lock, no write. The indexes stay empty.
[[nodiscard]] result<std::unique_ptr<lmdb_journal>> open_beside(const std::string& folder);

/// Position of the newest record of the log.
[[nodiscard]] std::uint64_t head_of(lmdb::txn& t, const lmdb_tables& db);

} // namespace sluice
