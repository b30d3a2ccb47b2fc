#include "storage/event_index.hpp"

#include <algorithm>

namespace sluice {

void event_index::add(std::uint64_t topic, std::uint64_t seq) {
  if (topic == 0) return;
  auto& newest = newest_[topic];
  entries_.push_back({topic, seq, newest});
  newest = dropped_ + entries_.size();
}

std::vector<std::uint64_t> event_index::find(std::uint64_t topic, std::uint64_t after_seq) const {
  std::vector<std::uint64_t> seqs;
  auto newest = newest_.find(topic);
  auto number = newest == newest_.end() ? 0 : newest->second;
  while (number > dropped_) {
    const auto& e = entries_[number - dropped_ - 1];
    if (e.seq <= after_seq) break;
    seqs.push_back(e.seq);
    number = e.previous;
  }
  std::reverse(seqs.begin(), seqs.end());
  return seqs;
}

void event_index::prune(std::uint64_t seq) {
  while (!entries_.empty() && entries_.front().seq < seq) {
    const auto topic = entries_.front().topic;
    entries_.pop_front();
    ++dropped_;
    if (auto newest = newest_.find(topic); newest->second == dropped_) newest_.erase(newest);
  }
}

} // namespace sluice
