#pragma once

#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/journal.hpp"
#include "messages/run.hpp"
#include "storage/codec.hpp"
#include "storage/store.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace sluice {

/// What survives a crash of the node in simulations: every committed batch and nothing else. Shared
/// by the stores that are opened on it, one after the other; a newer one fences the older.
///
/// It is the model of the store: plain maps, no cleverness.
struct memory_disk {
  struct record {
    run_id run; ///< nil: none
    std::variant<codec::batch_record, step_record, event, put_marks> what;
    std::uint64_t bytes = 0;
    bool corrupt = false;
  };

  struct run {
    run_row row;
    std::uint64_t number = 0;
    timestamp wake_at{};
    std::set<std::uint64_t> seqs;                 ///< of its records
    std::map<std::uint32_t, std::uint64_t> steps; ///< the newest record of each ordinal
    bool row_corrupt = false;
  };

  std::map<std::uint64_t, record> log;
  std::map<run_id, run> runs;
  std::map<std::string, std::uint64_t, std::less<>> event_keys;
  std::array<std::map<std::string, std::string, std::less<>>, table_count> tables;
  std::uint64_t epoch = 0;
  std::uint64_t head = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t used_bytes = 0; ///< of log records and table rows

  /// Batches that would need more than this are answered with `full`; 0: no limit.
  std::uint64_t quota_bytes = 0;
  /// Called after every commit, with the disk as it is then: for invariants.
  std::function<void(const memory_disk&, const batch&)> on_commit;
  /// Keep every batch, which `lose_suffix` needs.
  bool keep_history = false;
  std::vector<batch> history;

  /// Guards all of the above but the settings.
  mutable std::mutex lock;

  /// What is wrong with a batch; nothing when it may be written. Takes no lock.
  [[nodiscard]] std::optional<std::string> problem_with(const batch& b) const;
  /// Would the batch go over the quota? Takes no lock.
  [[nodiscard]] bool too_large(const batch& b) const;
  /// Writes a batch that was found good. Takes no lock.
  void apply(const batch& b);

  /// Undoes the last `batches`, as a failover to a lagging copy would (F24).
  void lose_suffix(std::size_t batches);
  /// Damages the newest record of a run.
  void corrupt_record(const run_id& id);
  /// Damages the row of a run.
  void corrupt_row(const run_id& id);

  [[nodiscard]] bool is_live(const run_id& id) const;
  /// Position of the first record of the oldest live run; the greatest number when none is live.
  [[nodiscard]] std::uint64_t oldest_live() const;

private:
  std::uint64_t add(const run_id& id, record r);
  void apply_op(const op& o, std::uint64_t batch_seq, const std::set<run_id>& ended_before);
  void remove(std::uint64_t seq);
  void trim(const trim_run& o);
  void trim(const trim_log& o, std::uint64_t batch_seq);
};

} // namespace sluice
