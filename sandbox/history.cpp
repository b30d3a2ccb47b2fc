#include "sandbox/history.hpp"

#include <algorithm>

namespace sluice::sandbox {

namespace past {

constexpr std::int64_t day_ms = 86'400'000;
constexpr std::uint32_t draft_every = 10;

/// Deployments come in bursts: this one has the millisecond of the one before it. So has the last
/// one of each page of 100, read from the newest, which is where readers lose items.
bool tied(std::uint32_t k, std::uint32_t of) {
  return k > 1 && (k % 10 == 0 || (of - k) % 100 == 99);
}

bool in_state(const item_facts& f, list_query::states wanted) {
  switch (wanted) {
  case list_query::states::open:
    return f.open;
  case list_query::states::closed:
    return !f.open;
  case list_query::states::all:
    break;
  }
  return true;
}

std::int64_t sort_key(const item_facts& f, list_query::order by) {
  return by == list_query::order::updated ? f.updated_ms : f.created_ms;
}

bool wanted(const item_facts& f, const list_query& q) {
  if (!in_state(f, q.state)) return false;
  const auto time = f.kind == entity::deployment ? f.created_ms : f.updated_ms;
  return (!q.since_ms || time >= *q.since_ms) && (!q.until_ms || time < *q.until_ms);
}

} // namespace past

std::uint32_t history::count(entity kind) const noexcept {
  const auto& o = world_.about();
  switch (kind) {
  case entity::pull_request:
    return o.pulls;
  case entity::issue:
    return o.issues;
  case entity::release:
    return o.releases;
  case entity::deployment:
    return o.deployments;
  }
  return 0;
}

// Odd numbers are pull requests and even ones issues until one of the two runs out.
std::uint32_t history::number_of(entity kind, std::uint32_t k) const noexcept {
  if (kind == entity::release || kind == entity::deployment) return k;
  const auto both = std::min(world_.about().pulls, world_.about().issues);
  if (k > both) return both + k;
  return kind == entity::pull_request ? 2 * k - 1 : 2 * k;
}

entity history::kind_of(std::uint32_t number) const noexcept {
  const auto& o = world_.about();
  const auto both = std::min(o.pulls, o.issues);
  const bool pull = number <= 2 * both ? number % 2 == 1 : o.pulls > o.issues;
  return pull ? entity::pull_request : entity::issue;
}

std::int64_t history::created_at(list_ref l, std::uint32_t number, std::uint32_t of) const {
  const auto span = past::day_ms * std::int64_t{world_.about().days};
  const auto slot = std::max<std::int64_t>(1, span / std::max(1U, of));
  const auto dice = mix64(mix64(world_.about().seed, l.of.key()), number);
  const auto inside = static_cast<std::int64_t>(dice % static_cast<std::uint64_t>(slot));
  return start_ms_ - span + slot * (std::int64_t{number} - 1) + inside;
}

item_facts history::at_start(list_ref l, std::uint32_t number) const {
  item_facts f;
  f.number = number;
  f.kind = l.kind;
  const auto& o = world_.about();
  if (l.kind == entity::deployment) {
    auto first = number;
    while (past::tied(first, o.deployments))
      --first;
    f.created_ms = f.updated_ms = created_at(l, first, o.deployments);
    f.window_ms = f.created_ms;
    return f;
  }
  const auto of = l.kind == entity::release ? o.releases : o.pulls + o.issues;
  const auto dice = mix64(mix64(o.seed + 1, l.of.key()), number);
  const auto late = static_cast<double>(dice >> 40) / static_cast<double>(1U << 24);
  f.created_ms = created_at(l, number, of) / 1000 * 1000;
  // Most are touched soon after they were made, a few much later.
  const auto left = static_cast<double>(start_ms_ - f.created_ms);
  f.updated_ms = f.created_ms + static_cast<std::int64_t>(left * late * late * late) / 1000 * 1000;
  f.open = dice % 3 == 0;
  f.window_ms = f.updated_ms;
  if (l.kind == entity::release && number % past::draft_every == 0) f.window_ms.reset();
  if (l.kind != entity::release) f.kind = kind_of(number);
  return f;
}

item_facts history::added(entity kind, std::uint32_t number, std::int64_t at) const {
  item_facts f;
  f.number = number;
  f.kind = kind;
  f.open = true;
  f.added = true;
  f.created_ms = f.updated_ms = at;
  f.window_ms = at;
  return f;
}

std::vector<item_facts> history::list(list_ref l, const list_query& q) const {
  const auto& o = world_.about();
  const bool threads = l.kind == entity::pull_request || l.kind == entity::issue;
  const auto of = threads ? o.pulls + o.issues : count(l.kind);
  std::vector<item_facts> items;
  auto take = [&](const item_facts& f) {
    if ((l.kind == entity::issue || f.kind == l.kind) && past::wanted(f, q)) items.push_back(f);
  };
  const std::shared_lock hold{mutex_};
  const auto found = changes_.find(l.of.key());
  const changes* moved = found == changes_.end() ? nullptr : &found->second;
  for (std::uint32_t n = 1; n <= of; ++n) {
    auto f = at_start(l, n);
    if (threads && moved) {
      if (auto t = moved->touched.find(n); t != moved->touched.end()) {
        f.version = t->second.version;
        f.updated_ms = t->second.at;
        f.window_ms = f.updated_ms;
      }
    }
    take(f);
  }
  if (moved) {
    const auto& more = threads ? moved->threads : moved->others;
    for (std::uint32_t i = 0; i < more.size(); ++i)
      take(added(more[i].kind, of + i + 1, more[i].at));
  }
  std::ranges::sort(items, [&](const item_facts& a, const item_facts& b) {
    const std::pair left{past::sort_key(a, q.by), a.number};
    const std::pair right{past::sort_key(b, q.by), b.number};
    return q.ascending ? left < right : right < left;
  });
  return items;
}

void history::move(list_ref l, timestamp now) {
  const std::unique_lock hold{mutex_};
  auto& c = changes_[l.of.key()];
  const auto turn = ++c.moves;
  const bool threads = l.kind == entity::pull_request || l.kind == entity::issue;
  const auto at =
    threads || l.kind == entity::release ? to_millis(now) / 1000 * 1000 : to_millis(now);
  if (!threads) return c.others.push_back({l.kind, at});
  if (turn % 2 == 0 || count(l.kind) == 0) return c.threads.push_back({l.kind, at});
  // The oldest ones stand at the end of the list, where the reader has not been yet.
  auto& t = c.touched[number_of(l.kind, (turn / 2) % count(l.kind) + 1)];
  t.at = at;
  ++t.version;
}

std::uint32_t history::revision(resource_ref r) const {
  const std::shared_lock hold{mutex_};
  const auto found = changes_.find(r.key());
  return found == changes_.end() ? 0 : found->second.moves;
}

} // namespace sluice::sandbox
