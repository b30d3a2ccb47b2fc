#include "actors/live_index.hpp"

#include <algorithm>

namespace sluice {

std::string place_of(std::string_view workflow, std::string_view installation) {
  std::string place{"installation/"};
  return place.append(workflow).append("/").append(installation);
}

void live_index::add(const run_row& row) {
  if (row.installation.empty() || !row.parent.is_nil() || ended_.contains(row.id)) return;
  auto place = place_of(row.workflow, row.installation);
  if (places_.try_emplace(row.id, place).second) runs_[std::move(place)].push_back(row.id);
}

void live_index::remove(run_id run) {
  if (phase_ == phase::loading) ended_.insert(run);
  const auto known = places_.extract(run);
  if (known.empty()) return;
  const auto list = runs_.find(known.mapped());
  std::erase(list->second, run);
  if (list->second.empty()) runs_.erase(list);
}

std::vector<run_id> live_index::at(const std::string& place) const {
  const auto list = runs_.find(place);
  if (list == runs_.end()) return {};
  auto sorted = list->second;
  std::ranges::sort(sorted);
  return sorted;
}

void live_index::fill(phase p) {
  phase_ = p;
  ended_.clear();
}

} // namespace sluice
