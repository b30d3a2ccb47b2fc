#include "sandbox/ledger.hpp"

#include "sandbox/items.hpp"

#include <algorithm>

namespace sluice::sandbox {

namespace books {

constexpr std::int64_t edge_ms = 1000;
constexpr std::size_t missing_ids_max = 10;

std::optional<std::int64_t> since_of(const ledger_query& q, const fetch_log::snapshot& log,
                                     connection_ref c) {
  if (q.since_ms) return q.since_ms;
  const auto found = log.connections.find(c);
  return found == log.connections.end() ? std::nullopt : found->second.since_ms;
}

bool inside(std::int64_t window_ms, std::optional<std::int64_t> since_ms) {
  return !since_ms || window_ms > *since_ms + edge_ms;
}

} // namespace books

std::uint64_t ledger::id_of(std::string_view delivery) noexcept {
  return std::max<std::uint64_t>(1, hash64(delivery));
}

bool ledger::is_poison(std::uint64_t id) const noexcept {
  const auto every = world_.about().faults.poison_every;
  return every > 0 && mix64(world_.about().seed + 9, id) % every == 0;
}

void ledger::served(list_ref l, std::span<const served_item> items) {
  for (const auto& item : items) {
    const auto before = table_.with(item.id, [&](delivery_entry& e) {
      const auto old = e.served ? e.digest : item.digest;
      e.served = true;
      e.digest = item.digest;
      e.bytes = item.bytes;
      e.window_s = std::max(e.window_s, item.window_s);
      return old;
    });
    if (!item.moved && before == item.digest) continue;
    const std::lock_guard hold{mutex_};
    if (before != item.digest) older_.insert(mix64(item.id, before));
    if (item.moved) moved_[item.id] = {l, item.window_s};
  }
}

std::size_t ledger::length_of(std::uint64_t id) const {
  std::size_t bytes = 0;
  table_.if_there(id, [&](const delivery_entry& e) { bytes = e.bytes; });
  return bytes;
}

std::uint32_t ledger::asked(std::uint64_t id) {
  return table_.with(id, [](delivery_entry& e) {
    const auto before = e.asked;
    if (e.asked < UINT16_MAX) ++e.asked;
    return before;
  });
}

bool ledger::was_served(std::uint64_t id, std::uint64_t digest) const {
  bool same = false;
  table_.if_there(id, [&](const delivery_entry& e) { same = e.served && e.digest == digest; });
  if (same) return true;
  const std::lock_guard hold{mutex_};
  return older_.contains(mix64(id, digest));
}

std::uint32_t ledger::accept(std::uint64_t id, std::uint64_t digest, timestamp now) {
  struct outcome {
    std::uint32_t before;
    bool same;
  };
  const auto got = table_.with(
    id, [&](delivery_entry& e) { return outcome{e.accepted++, e.served && e.digest == digest}; });
  if (!got.same && !was_served(id, digest))
    table_.with(id, [](delivery_entry& e) { e.corrupted = true; });
  const auto at = to_millis(now);
  ++delivered_;
  if (got.before > 0) ++repeated_;
  std::int64_t none = 0;
  first_ms_.compare_exchange_strong(none, at);
  last_ms_ = at;
  none = 0;
  if (marked_ms_ != 0) first_after_mark_ms_.compare_exchange_strong(none, at);
  return got.before;
}

void ledger::mark(timestamp now) {
  delivered_at_mark_ = delivered_.load();
  repeated_at_mark_ = repeated_.load();
  first_after_mark_ms_ = 0;
  marked_ms_ = to_millis(now);
}

void ledger::reset() {
  table_.clear();
  fetches.clear();
  counts.clear();
  for (auto* n :
       {&delivered_, &repeated_, &delivered_at_mark_, &repeated_at_mark_, &rate_window_max})
    *n = 0;
  for (auto* n : {&first_ms_, &last_ms_, &marked_ms_, &first_after_mark_ms_})
    *n = 0;
  const std::lock_guard hold{mutex_};
  moved_.clear();
  older_.clear();
}

std::vector<list_ref> ledger::lists_in(ledger_scope scope) const {
  const auto log = fetches.all();
  std::vector<list_ref> lists;
  if (scope == ledger_scope::fetched) {
    for (const auto& [l, pages] : log.lists)
      lists.push_back(l);
    return lists;
  }
  for (const auto p : {provider::github, provider::vercel}) {
    for (std::uint32_t n = 1; n <= world_.connections(p); ++n) {
      const connection_ref c{p, n};
      const auto known = log.connections.find(c);
      const bool asked = known != log.connections.end() && known->second.asked;
      if (scope == ledger_scope::connections && !asked) continue;
      for (std::uint32_t i = 1; i <= world_.resources(c); ++i) {
        for (const auto kind : world_.kinds(p))
          lists.push_back({{c, i}, kind});
      }
    }
  }
  return lists;
}

void ledger::expect(ledger_verdict& v, std::uint64_t id, const std::string& name) const {
  if (is_poison(id)) return;
  ++v.expected;
  bool there = false;
  table_.if_there(id, [&](const delivery_entry& e) {
    there = e.accepted > 0;
    if (e.served) ++v.served;
  });
  if (there) return;
  ++v.missing;
  if (v.missing_ids.size() < books::missing_ids_max) v.missing_ids.push_back(name);
}

ledger_verdict ledger::judge(const ledger_query& q) const {
  ledger_verdict v;
  const auto log = fetches.all();
  const auto lists = lists_in(q.scope);
  std::unordered_set<std::uint64_t> counted; // moved items that are expected anyway
  std::map<std::uint64_t, moved_item> moved;
  {
    const std::lock_guard hold{mutex_};
    moved = moved_;
  }
  for (const auto& l : lists) {
    const auto since = books::since_of(q, log, l.of.owner);
    const item_writer names{world_, l};
    for (std::uint32_t k = 1; k <= history_.count(l.kind); ++k) {
      const auto f = history_.at_start(l, history_.number_of(l.kind, k));
      if (!f.window_ms || !books::inside(*f.window_ms, since)) continue;
      const auto name = names.delivery_id(f);
      const auto id = id_of(name);
      if (moved.contains(id)) counted.insert(id);
      expect(v, id, name);
    }
  }
  for (const auto& [id, m] : moved) {
    const auto since = books::since_of(q, log, m.list.of.owner);
    if (counted.contains(id) || std::ranges::find(lists, m.list) == lists.end()) continue;
    if (books::inside(std::int64_t{m.window_s} * 1000, since))
      expect(v, id, world_.delivery_prefix(m.list) + "(moved)");
  }
  table_.each([&](const delivery_entry& e) {
    v.delivered += e.accepted;
    if (e.accepted > 0) ++v.distinct;
    if (e.accepted > 0 && !e.served) ++v.unknown;
    if (e.corrupted) ++v.corrupted;
    if (e.asked > 0 && is_poison(e.id)) ++v.poisoned;
  });
  v.duplicates = v.delivered - v.distinct;
  return v;
}

} // namespace sluice::sandbox
