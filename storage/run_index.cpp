#include "storage/run_index.hpp"

#include <utility>

namespace sluice {

run_records* run_index::find(const run_id& id) {
  auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : &found->second;
}

run_records& run_index::add(const run_id& id, run_records records) {
  numbers_.insert(numbers_.end(), records.number);
  return runs_.emplace(id, std::move(records)).first->second;
}

void run_index::adopt(map& created) {
  for (const auto& [id, records] : created)
    numbers_.insert(numbers_.end(), records.number);
  runs_.merge(created);
}

void run_index::remove(const run_id& id) {
  auto found = runs_.find(id);
  if (found == runs_.end()) return;
  numbers_.erase(found->second.number);
  runs_.erase(found);
}

} // namespace sluice
