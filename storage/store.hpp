#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/journal.hpp"
#include "messages/reads.hpp"
#include "messages/run.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class commit_status : std::uint8_t {
  committed, ///< durable
  fenced,    ///< another owner has the shard: stop, write nothing more
  conflict,  ///< the head is not where the batch expected it; nothing was written
  unknown,   ///< it may or may not be durable: `probe` tells
  full,      ///< no room; nothing was written, try again when there is
  failed,    ///< the store is broken or the batch breaks a rule; nothing was written
};

[[nodiscard]] std::string_view to_string(commit_status s) noexcept;

/// The right to write a shard. `head` is the position of the newest log record.
struct shard_grant {
  std::uint32_t shard = 0;
  std::uint64_t epoch = 0;
  std::uint64_t head = 0;
  /// The last owner ended by ordered shutdown (4.7): it wrote the row `clean` of `table::node`
  /// last. `open` takes that row away.
  bool clean = false;
};

/// A batch moves the head by 1 for its own log record (id, epoch, time), which comes first, plus
/// one per logged operation, in their order.
struct batch {
  std::uint32_t shard = 0;
  std::uint64_t epoch = 0;
  std::uint64_t expected_head = 0;
  batch_id id;
  timestamp at{};
  std::vector<op> ops;
};

struct commit_result {
  batch_id id;
  commit_status status = commit_status::failed;
  std::uint64_t head = 0;
  std::string detail; ///< for people, when not committed
};

/// `regressed`: the head is below what the batch expected, the store lost commits (I21).
enum class probe_answer : std::uint8_t { committed, absent, fenced, regressed };

/// What lasts. A plain class that knows no CAF. Writes: one thread calls `submit`, `finished` and
/// `probe` (the journal actor). Reads are thread-safe, touch the disk, see only what is committed,
/// and are called by the reader actor alone. The embedded store has one shard, number 0.
class store {
public:
  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  virtual ~store() = default;

  /// Takes the one shard of an embedded store and raises its epoch. Once per object.
  virtual result<shard_grant> open() = 0;

  /// Starts commits; each batch is judged on its own, in order. LMDB commits inside. The batches
  /// stay the caller's, who needs them again after `unknown` and `full`.
  virtual void submit(const std::vector<batch>& batches) = 0;
  /// What ended, in the order of `submit`; waits at most that long for the first.
  virtual std::vector<commit_result> finished(duration wait) = 0;
  /// Resolves `unknown`.
  virtual probe_answer probe(std::uint32_t shard, std::uint64_t epoch, batch_id id,
                             std::uint64_t expected_head) = 0;

  /// Is the run there and has not ended? Of the writer's thread: sees what that committed.
  virtual bool is_live(run_id run) = 0;

  /// Runs that have not ended, by id.
  virtual result<live_run_page> load_runs(std::uint32_t shard, std::optional<run_id> after,
                                          std::size_t limit) = 0;
  /// Memos of many runs, live or ended, in the order of `runs`; at most `limit` steps, at least
  /// one. A run that is not in the store gives an empty memo.
  virtual result<step_page> load_steps(std::uint32_t shard, const std::vector<run_id>& runs,
                                       step_position after, std::size_t limit) = 0;
  /// Acknowledgement marks of a run, the newest of each (unit, page).
  virtual result<std::vector<put_marks>> load_marks(std::uint32_t shard, run_id run) = 0;
  /// Wake-ups at or before `until`, earliest first.
  virtual result<std::vector<due_run>> due(std::uint32_t shard, timestamp until,
                                           std::size_t limit) = 0;
  /// The log's events after a position, for observers.
  virtual result<std::vector<event>> read_events(std::uint32_t shard, std::uint64_t after_seq,
                                                 std::size_t limit) = 0;
  /// Events of one kind and subject after a position, oldest first. Embedded: only those since the
  /// oldest live run began, and not the engine's own `run.requested` and `step.failed`.
  virtual result<std::vector<event>> find_events(std::uint32_t shard, std::string_view kind,
                                                 std::string_view subject, std::uint64_t after_seq,
                                                 std::size_t limit) = 0;
  /// The event with this idempotency key.
  virtual result<std::optional<event>> find_event(std::uint32_t shard, std::string_view key) = 0;
  /// The first and the last event of a run: `run.requested`, and `run.ended` if it ended.
  virtual result<std::vector<event>> run_ends(std::uint32_t shard, run_id run) = 0;
  virtual result<std::optional<run_row>> find_run(std::uint32_t shard, run_id run) = 0;
  /// Runs of a tenant (empty: of all), newest first. May look at a bounded number of rows only and
  /// then answers with fewer than `limit` and a `next`.
  virtual result<run_page> query(std::string_view tenant, const run_filter& filter,
                                 std::optional<run_id> before, std::size_t limit) = 0;
  virtual store_stats stats() = 0;
  /// Rows of a small table whose key begins with `prefix`, after `after`, in key order.
  virtual result<std::vector<table_row>> load(table where, std::uint32_t shard,
                                              std::string_view prefix, std::string_view after,
                                              std::size_t limit) = 0;
};

} // namespace sluice
