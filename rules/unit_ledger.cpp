#include "rules/unit_ledger.hpp"

#include "base/hash.hpp"

#include <algorithm>

namespace sluice {

void unit_ledger::serve(const std::string& key, fate what) {
  const auto hash = hash64(key);
  auto [item, fresh] = items_.emplace(hash, what);
  if (!fresh) {
    // It was gone when its page was fetched again, and here it is.
    if (item->second == fate::missed && what == fate::due) {
      item->second = fate::due;
      open_.push_back(hash);
    }
    return;
  }
  found_new_ = true;
  ++counts_.served;
  if (what == fate::filtered) {
    ++counts_.filtered;
    return;
  }
  const auto id = prefix_ + key;
  low_ += hash64(id, 1);
  high_ += hash64(id, 2);
  ++counts_.pending;
  open_.push_back(hash);
}

void unit_ledger::fetched(const page_memo& page) {
  ++pages_;
  found_new_ = false;
  open_.clear();
  if (!page.note.empty()) note_ = page.note;
  for (const auto& key : page.wanted)
    serve(key, fate::due);
  for (const auto& key : page.filtered)
    serve(key, fate::filtered);
}

unit_counts unit_ledger::counts_after(const dispatch_memo& what) const {
  auto c = counts_;
  auto is_new = [&](const std::string& key) { return !knows(key); };
  const auto added =
    static_cast<std::uint64_t>(std::count_if(what.added.begin(), what.added.end(), is_new));
  const auto filtered = static_cast<std::uint64_t>(
    std::count_if(what.added_filtered.begin(), what.added_filtered.end(), is_new));
  c.served += added + filtered;
  c.filtered += filtered;
  const auto settled = what.delivered + what.skipped + what.gated + what.dead;
  c.delivered += what.delivered;
  c.skipped += what.skipped;
  c.gated += what.gated;
  c.dead += what.dead;
  c.pending += added;
  // More than was pending cannot be settled: then the books do not balance, and that shows.
  c.pending -= std::min(c.pending, settled);
  return c;
}

void unit_ledger::dispatched(const dispatch_memo& what) {
  const auto after = counts_after(what);
  for (const auto& key : what.added)
    serve(key, fate::due);
  for (const auto& key : what.added_filtered)
    serve(key, fate::filtered);
  for (auto hash : open_)
    items_[hash] = fate::settled;
  for (const auto& key : what.missed)
    items_[hash64(key)] = fate::missed;
  open_.clear();
  counts_ = after;
}

bool unit_ledger::is_due(std::string_view key) const {
  auto item = items_.find(hash64(key));
  return item != items_.end() && item->second == fate::due;
}

bool unit_ledger::knows(std::string_view key) const {
  return items_.contains(hash64(key));
}

std::string unit_ledger::digest() const {
  return to_hex(high_) + to_hex(low_);
}

void unit_ledger::settle_open_page(std::uint64_t acknowledged) {
  const auto known = std::min(acknowledged, counts_.pending);
  counts_.delivered += known;
  counts_.pending -= known;
}

} // namespace sluice
