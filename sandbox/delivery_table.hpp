#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

namespace sluice::sandbox {

/// What is kept of one delivery id: hashes, never bodies.
struct delivery_entry {
  std::uint64_t id = 0;       ///< hash of the delivery id; 0: the place is free
  std::uint64_t digest = 0;   ///< of the item as it was served last
  std::uint32_t bytes = 0;    ///< its length
  std::uint32_t window_s = 0; ///< the latest time of it that was served, seconds since 1970
  std::uint32_t accepted = 0; ///< how often the gateway took it
  std::uint16_t asked = 0;    ///< how often the gateway was asked; stops at the highest value
  bool served = false;
  bool corrupted = false; ///< at least one accepted event held other bytes than were served
};

/// Entries by id in an open hash table, 32 bytes each, cut into shards with a lock each. An entry
/// is touched by a function under the lock of its shard.
class delivery_table {
public:
  /// Calls `f(delivery_entry&)` for `id`, which is made if it is not there.
  template <class F>
  auto with(std::uint64_t id, F f) {
    shard& s = shards_[id % shards_.size()];
    const std::lock_guard hold{s.lock};
    return f(s.find_or_make(id));
  }

  /// Calls `f(const delivery_entry&)` for `id` if it is there.
  template <class F>
  void if_there(std::uint64_t id, F f) const {
    const shard& s = shards_[id % shards_.size()];
    const std::lock_guard hold{s.lock};
    if (const auto* e = s.find(id)) f(*e);
  }

  /// Calls `f` for all entries, shard by shard.
  template <class F>
  void each(F f) const {
    for (const auto& s : shards_) {
      const std::lock_guard hold{s.lock};
      for (const auto& e : s.entries) {
        if (e.id != 0) f(e);
      }
    }
  }

  void clear();

private:
  struct shard {
    mutable std::mutex lock;
    std::vector<delivery_entry> entries;
    std::size_t used = 0;

    delivery_entry& find_or_make(std::uint64_t id);
    [[nodiscard]] const delivery_entry* find(std::uint64_t id) const;
    [[nodiscard]] std::size_t place_of(std::uint64_t id) const;
    void grow();
  };

  std::array<shard, 64> shards_;
};

} // namespace sluice::sandbox
