#pragma once

#include "storage/data_folder.hpp"
#include "storage/store.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct lmdb_journal;

struct lmdb_options {
  std::string path; ///< the data folder
  std::size_t map_bytes = std::size_t{1} << 40;
  /// With less room than this, only batches that make room are written (I19). Pages that lie free
  /// inside the file count as room.
  std::uint64_t reserve_bytes = std::uint64_t{64} << 20;
  /// Beside a live node: takes no lock, writes nothing, refuses every batch.
  bool read_only = false;
};

/// The embedded store: one folder, one process, one shard. docs/journal-format.md describes the
/// file.
///
/// Commits happen inside `submit`; what `finished` gives is durable. After a failed commit that is
/// not for lack of room the store refuses everything: end the process, the next start rereads
/// (F22).
class lmdb_store final : public store {
public:
  explicit lmdb_store(lmdb_options options);
  ~lmdb_store() override;

  result<shard_grant> open() override;
  void submit(const std::vector<batch>& batches) override;
  std::vector<commit_result> finished(duration wait) override;
  probe_answer probe(std::uint32_t shard, std::uint64_t epoch, batch_id id,
                     std::uint64_t expected_head) override;

  bool is_live(run_id run) override;
  result<live_run_page> load_runs(std::uint32_t shard, std::optional<run_id> after,
                                  std::size_t limit) override;
  result<step_page> load_steps(std::uint32_t shard, const std::vector<run_id>& runs,
                               step_position after, std::size_t limit) override;
  result<std::vector<put_marks>> load_marks(std::uint32_t shard, run_id run) override;
  result<std::vector<due_run>> due(std::uint32_t shard, timestamp until,
                                   std::size_t limit) override;
  result<std::vector<event>> read_events(std::uint32_t shard, std::uint64_t after_seq,
                                         std::size_t limit) override;
  result<std::vector<event>> find_events(std::uint32_t shard, std::string_view kind,
                                         std::string_view subject, std::uint64_t after_seq,
                                         std::size_t limit) override;
  result<std::optional<event>> find_event(std::uint32_t shard, std::string_view key) override;
  result<std::vector<event>> run_ends(std::uint32_t shard, run_id run) override;
  result<std::optional<run_row>> find_run(std::uint32_t shard, run_id run) override;
  result<run_page> query(std::string_view tenant, const run_filter& filter,
                         std::optional<run_id> before, std::size_t limit) override;
  store_stats stats() override;
  result<std::vector<table_row>> load(table where, std::uint32_t shard, std::string_view prefix,
                                      std::string_view after, std::size_t limit) override;

private:
  error claim();
  result<std::unique_ptr<lmdb_journal>> take_over();
  [[nodiscard]] bool has_room();

  const lmdb_options options_;
  folder_lock lock_;
  std::unique_ptr<lmdb_journal> journal_; ///< null until it is open
  std::vector<commit_result> finished_;
  bool clean_ = false;
  int commits_until_look_ = 0;
  std::string broken_; ///< why every batch is refused; empty: it is not
};

} // namespace sluice
