#pragma once

#include "storage/memory_disk.hpp"
#include "storage/store.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What happens to a batch instead of its commit.
enum class commit_fault : std::uint8_t {
  none,
  fail,            ///< `failed`, nothing written
  full,            ///< `full`, nothing written
  conflict,        ///< `conflict`, nothing written
  fenced,          ///< `fenced`, nothing written
  unknown_absent,  ///< `unknown`, and it was not written
  unknown_written, ///< `unknown`, but it was written
};

/// The model: a store in memory that fails on demand. The same answers as the embedded store, which
/// a differential test compares. What is committed lies on its disk, which outlives it: destroying
/// the store is a crash.
class memory_store final : public store {
public:
  /// Without a disk it makes itself one.
  explicit memory_store(std::shared_ptr<memory_disk> disk = std::make_shared<memory_disk>());

  /// Asked for every batch when its turn comes, in order.
  std::function<commit_fault(const batch&)> fault;
  /// A batch ends only after `finished` was called so many times in vain. It is written when it
  /// ends, so that a crash before loses it.
  std::size_t slow_polls = 0;
  /// So many reads, from now on, fail with `errc::storage_failed`.
  std::size_t failing_reads = 0;

  [[nodiscard]] const std::shared_ptr<memory_disk>& disk() const noexcept { return disk_; }

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
  struct waiting_batch {
    batch what;
    std::size_t polls_left = 0;
  };

  commit_result commit(const batch& b);
  commit_result judge(const batch& b, commit_fault injected);
  error read_fault();

  std::shared_ptr<memory_disk> disk_;
  std::uint64_t epoch_ = 0;
  std::deque<waiting_batch> waiting_;
};

} // namespace sluice
