#pragma once

#include "messages/run.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sluice {

/// The name of the place that all runs of a workflow and an installation share.
[[nodiscard]] std::string place_of(std::string_view workflow, std::string_view installation);

/// Which runs each installation has that have not ended. Runs without an installation, and those
/// that another run asked for, do not count. It may be filled from a store, page by page, while
/// runs begin and end: what ended meanwhile is not brought back by a page that was read before.
class live_index {
public:
  enum class phase : std::uint8_t { empty, loading, complete };

  void add(const run_row& row);
  void remove(run_id run);
  /// Oldest first.
  [[nodiscard]] std::vector<run_id> at(const std::string& place) const;

  [[nodiscard]] phase filled() const noexcept { return phase_; }
  void fill(phase p);

private:
  std::unordered_map<std::string, std::vector<run_id>> runs_; ///< by place
  std::unordered_map<run_id, std::string> places_;
  std::unordered_set<run_id> ended_; ///< while loading
  phase phase_ = phase::empty;
};

} // namespace sluice
