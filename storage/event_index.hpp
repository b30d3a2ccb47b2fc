#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace sluice {

/// Positions of events by topic (a hash of kind and subject), oldest first. Each entry points to
/// the one before it of the same topic, so asking for what came lately does not walk what came long
/// ago. Not thread-safe.
class event_index {
public:
  /// Positions come in ascending order. Topic 0 is not kept.
  void add(std::uint64_t topic, std::uint64_t seq);
  /// Positions of a topic after `after_seq`, ascending.
  [[nodiscard]] std::vector<std::uint64_t> find(std::uint64_t topic, std::uint64_t after_seq) const;
  /// Forgets what lies below `seq`.
  void prune(std::uint64_t seq);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

private:
  struct entry {
    std::uint64_t topic = 0;
    std::uint64_t seq = 0;
    std::uint64_t previous = 0; ///< count of the entry before; 0: none
  };

  std::deque<entry> entries_;
  std::uint64_t dropped_ =
    0; ///< entries pruned so far: entry number n is entries_[n - dropped_ - 1]
  std::unordered_map<std::uint64_t, std::uint64_t> newest_;
};

} // namespace sluice
