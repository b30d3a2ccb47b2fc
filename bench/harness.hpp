#pragma once

#include "app/node.hpp"
#include "base/error.hpp"
#include "storage/lmdb_store.hpp"
#include "workflows/catalog.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sluice::bench {

/// A real node in this process, on a real journal, without its HTTP side.
class engine {
public:
  /// Opens or makes the journal in `folder` and recovers what is there.
  static result<std::unique_ptr<engine>> start(const std::string& folder, const catalog& flows,
                                               const settings& config = {});
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Durably requests `count` runs of one workflow with one input.
  error request(const std::string& workflow, const std::string& input, std::size_t count);
  /// Runs that have not ended.
  [[nodiscard]] std::uint64_t live();
  /// Of those, the ones whose memo has not been replayed yet.
  [[nodiscard]] std::uint64_t loading();
  /// Looks every millisecond; false when `at_most` seconds were over first.
  bool wait_until(const std::function<bool()>& done, double at_most);
  [[nodiscard]] store_stats stats() { return disk_->stats(); }
  [[nodiscard]] std::vector<actor_card> cards();
  bool stop() { return node_->stop(); }

private:
  engine() = default;

  std::unique_ptr<lmdb_store> disk_;
  std::unique_ptr<node> node_;
};

/// Megabytes of memory of this process that no file backs: what the program itself takes.
[[nodiscard]] double anonymous_mb();
/// Peak resident megabytes, pages of the journal's map included.
[[nodiscard]] double peak_rss_mb();
/// Seconds of processor time of this process, all threads.
[[nodiscard]] double cpu_seconds();

} // namespace sluice::bench
