#include "sandbox/delivery_table.hpp"

#include <utility>

namespace sluice::sandbox {

/// Where `id` is, or the free place where it belongs. The low bits chose the shard.
std::size_t delivery_table::shard::place_of(std::uint64_t id) const {
  const auto mask = entries.size() - 1;
  auto at = static_cast<std::size_t>(id >> 16) & mask;
  while (entries[at].id != 0 && entries[at].id != id)
    at = (at + 1) & mask;
  return at;
}

delivery_entry& delivery_table::shard::find_or_make(std::uint64_t id) {
  if (entries.empty() || used * 4 >= entries.size() * 3) grow();
  auto& e = entries[place_of(id)];
  if (e.id == 0) {
    e.id = id;
    ++used;
  }
  return e;
}

const delivery_entry* delivery_table::shard::find(std::uint64_t id) const {
  if (entries.empty()) return nullptr;
  const auto& e = entries[place_of(id)];
  return e.id == 0 ? nullptr : &e;
}

void delivery_table::shard::grow() {
  auto old =
    std::exchange(entries, std::vector<delivery_entry>(entries.empty() ? 64 : entries.size() * 2));
  for (const auto& e : old) {
    if (e.id != 0) entries[place_of(e.id)] = e;
  }
}

void delivery_table::clear() {
  for (auto& s : shards_) {
    const std::lock_guard hold{s.lock};
    s.entries.clear();
    s.used = 0;
  }
}

} // namespace sluice::sandbox
