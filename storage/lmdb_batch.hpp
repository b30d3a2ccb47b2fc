#pragma once

#include "storage/batch_rules.hpp"
#include "storage/keys.hpp"
#include "storage/lmdb.hpp"
#include "storage/lmdb_journal.hpp"
#include "storage/run_index.hpp"
#include "storage/run_records.hpp"
#include "storage/store.hpp"

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sluice {

/// Writes batches into one transaction. What they change in memory waits here until the transaction
/// has committed: when that fails, the indexes are as they were (I19).
class batch_writer final : private batch_context {
public:
  /// Both must outlive this. `room`: else only batches that make room are written.
  batch_writer(lmdb_journal& j, lmdb::txn& t, bool room);

  /// Judges a batch and, when it is good, writes it: `committed` then means that it will be when
  /// the transaction is. Afterwards `t.ok()` tells whether the transaction is still good.
  commit_result write(const batch& b);
  /// Call once, after the transaction has committed.
  void apply();

  [[nodiscard]] bool wrote() const noexcept { return wrote_; }

private:
  /// A record that lies in the transaction but not yet in the index.
  struct pending_record {
    run_records* run = nullptr;
    std::uint64_t seq = 0;
    std::uint32_t ordinal = 0;
    std::uint32_t bytes = 0;
    record_role role = record_role::event;
    bool result = false;
  };

  run_state state_of(const run_id& run) override;
  bool key_used(std::string_view idempotency_key) override;

  void begin_runs(const batch& b);
  void put(const put_step& o);
  void put(const put_event& o);
  void put(const put_run& o);
  void put(const set_wake& o);
  void put(const put_marks& o);
  void put(const put_row& o);
  void put(const del_row& o);
  void put(const trim_run& o);
  void put(const trim_log& o);
  void end_runs();

  run_records* live(const run_id& run);
  void set_wake_of(std::uint64_t number, const run_id& run, timestamp at);
  void write_seqs(const run_id& run, run_records& records);
  static void add(run_records& to, const pending_record& p);

  lmdb_journal& j_;
  lmdb::txn& t_;
  lmdb::cursor log_;
  const bool room_;
  bool wrote_ = false;
  bool judging_ = false;
  std::uint64_t head_;
  std::uint64_t batch_seq_ = 0; ///< of the batch that is being written
  run_index::map created_;
  std::unordered_set<run_id> ended_;
  std::vector<run_id> ending_; ///< in the batch that is being written
  std::vector<pending_record> records_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> events_; ///< topic, seq
  /// What judging a batch looked up: writing it asks for the same runs in the same order.
  std::vector<std::pair<run_id, run_records*>> lookups_;
  std::size_t lookup_ = 0; ///< the one that was used last
};

} // namespace sluice
