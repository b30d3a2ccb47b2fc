#pragma once

#include "messages/ids.hpp"
#include "storage/run_records.hpp"

#include <cstdint>
#include <set>
#include <unordered_map>

namespace sluice {

/// Where the records of every live run lie: what the log, sorted by position alone, cannot tell.
/// It holds only what is committed. Not thread-safe.
class run_index {
public:
  using map = std::unordered_map<run_id, run_records>;

  /// Nothing when the run is not live. The pointer is good until that run ends.
  [[nodiscard]] run_records* find(const run_id& id);
  run_records& add(const run_id& id, run_records records);
  /// Takes over `created`; pointers into it stay good.
  void adopt(map& created);
  void remove(const run_id& id);

  /// Position of the first record of the oldest live run; `none` when no run is live.
  [[nodiscard]] std::uint64_t oldest() const noexcept {
    return numbers_.empty() ? none : *numbers_.begin();
  }
  [[nodiscard]] std::size_t size() const noexcept { return runs_.size(); }

  static constexpr std::uint64_t none = ~std::uint64_t{0};

private:
  map runs_;
  std::set<std::uint64_t> numbers_;
};

} // namespace sluice
