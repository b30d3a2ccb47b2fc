#include "rules/admission.hpp"

#include <algorithm>

namespace sluice {

namespace admission_detail {

/// Newcomers' arrivals have this bit, so that those who return sort before them.
constexpr std::uint64_t newcomer_bit = std::uint64_t{1} << 63;

} // namespace admission_detail

void slot_book::want(run_id run, const std::vector<slot_claim>& claims, const std::string& turn_key,
                     queue_position position) {
  if (auto known = members_.find(run); known != members_.end()) {
    if (known->second.state != whereabouts::away) return;
    release(run);
  }
  auto [it, _] = members_.emplace(run, member{.in = join(claims, turn_key)});
  line_up(run, it->second, position);
}

void slot_book::give_back(run_id run) {
  auto it = members_.find(run);
  if (it == members_.end() || it->second.state != whereabouts::holding) return;
  free(it->second.in->second);
  it->second.state = whereabouts::away;
}

bool slot_book::return_to(run_id run) {
  auto it = members_.find(run);
  if (it == members_.end()) return false;
  if (it->second.state == whereabouts::away) line_up(run, it->second, queue_position::returning);
  return true;
}

void slot_book::release(run_id run) {
  auto it = members_.find(run);
  if (it == members_.end()) return;
  member& m = it->second;
  switch (m.state) {
  case whereabouts::waiting:
    step_out(m);
    break;
  case whereabouts::holding:
    free(m.in->second);
    break;
  case whereabouts::away:
    break;
  }
  leave(m.in);
  members_.erase(it);
}

void slot_book::restore(run_id run, const std::vector<slot_claim>& claims,
                        const std::string& turn_key) {
  if (holds(run)) return;
  release(run);
  auto in = join(claims, turn_key);
  take(in->second);
  members_.emplace(run, member{.in = in, .state = whereabouts::holding});
}

std::vector<run_id> slot_book::grant() {
  std::vector<run_id> granted;
  while (!open_.empty()) {
    slot& where = *open_.begin()->second;
    queue& q = *where.parked.begin()->second;
    ++looks_;
    unpark(q);
    // The key had a turn since this queue was parked: it waits for its next one. Turns only grow,
    // so whoever is first is first in truth once its entry is up to date.
    if (q.as.turn != q.key->second.turn) {
      park(q, where);
      continue;
    }
    if (slot* full = full_claim(q)) {
      park(q, *full);
      continue;
    }
    const run_id run = q.runs.begin()->second;
    member& m = members_.find(run)->second;
    take(q);
    step_out(m);
    m.state = whereabouts::holding;
    q.key->second.turn = ++last_turn_;
    if (!q.runs.empty()) park(q, where);
    granted.push_back(run);
  }
  return granted;
}

bool slot_book::holds(run_id run) const {
  auto it = members_.find(run);
  return it != members_.end() && it->second.state == whereabouts::holding;
}

bool slot_book::waits(run_id run) const {
  auto it = members_.find(run);
  return it != members_.end() && it->second.state == whereabouts::waiting;
}

slot_book_stats slot_book::stats() const {
  return {.waiting = waiting_,
          .holding = holding_,
          .away = members_.size() - waiting_ - holding_,
          .keys = keys_,
          .looks = looks_};
}

std::vector<slot_usage> slot_book::usage() const {
  std::vector<slot_usage> all;
  all.reserve(slots_.size());
  for (const auto& [name, s] : slots_)
    all.push_back({name.first, name.second, s.capacity, s.used});
  return all;
}

/// The queue of these claims, which has one member more.
slot_book::queue_map::iterator slot_book::join(const std::vector<slot_claim>& claims,
                                               const std::string& turn_key) {
  queue_name name{.turn_key = turn_key, .claims = {}};
  for (const auto& c : claims) {
    name.claims.emplace_back(c.limit, c.key);
    slot& s = slots_[name.claims.back()];
    s.capacity = c.capacity;
    list(s);
  }
  std::ranges::sort(name.claims);
  auto doubles = std::ranges::unique(name.claims);
  name.claims.erase(doubles.begin(), doubles.end());

  auto [it, is_new] = queues_.try_emplace(std::move(name));
  queue& q = it->second;
  if (is_new) {
    q.key = turns_.try_emplace(turn_key).first;
    ++q.key->second.queues;
    for (const auto& claim : it->first.claims) {
      q.claims.push_back(slots_.find(claim));
      ++q.claims.back()->second.queues;
    }
  }
  ++q.members;
  return it;
}

/// One member less. The last one takes the queue along, and what only that queue knew.
void slot_book::leave(queue_map::iterator it) {
  queue& q = it->second;
  if (--q.members > 0) return;
  for (auto claim : q.claims)
    if (--claim->second.queues == 0) slots_.erase(claim);
  if (--q.key->second.queues == 0) turns_.erase(q.key);
  queues_.erase(it);
}

void slot_book::line_up(run_id run, member& m, queue_position position) {
  queue& q = m.in->second;
  m.state = whereabouts::waiting;
  m.arrival = ++last_arrival_;
  if (position == queue_position::newcomer) m.arrival |= admission_detail::newcomer_bit;
  turn_state& key = q.key->second;
  if (key.waiting++ == 0) {
    key.turn = ++last_turn_;
    ++keys_;
  }
  ++waiting_;
  q.runs.emplace(m.arrival, run);
  if (q.runs.begin()->first != m.arrival) return;
  slot& where = q.at ? *q.at : door_;
  unpark(q);
  park(q, where);
}

/// Takes a run out of the line, whatever its place there.
void slot_book::step_out(member& m) {
  queue& q = m.in->second;
  slot* where = q.at;
  unpark(q);
  q.runs.erase(m.arrival);
  if (where && !q.runs.empty()) park(q, *where);
  if (--q.key->second.waiting == 0) --keys_;
  --waiting_;
}

void slot_book::take(queue& q) {
  ++holding_;
  for (auto claim : q.claims) {
    ++claim->second.used;
    list(claim->second);
  }
}

void slot_book::free(queue& q) {
  --holding_;
  for (auto claim : q.claims) {
    --claim->second.used;
    list(claim->second);
  }
}

void slot_book::park(queue& q, slot& where) {
  q.at = &where;
  q.as = {q.key->second.turn, q.runs.begin()->first};
  where.parked.emplace(q.as, &q);
  list(where);
}

void slot_book::unpark(queue& q) {
  if (!q.at) return;
  q.at->parked.erase(q.as);
  list(*q.at);
  q.at = nullptr;
}

/// Brings the entry of `s` in `open_` up to date.
void slot_book::list(slot& s) {
  std::optional<place> first;
  if (s.used < s.capacity && !s.parked.empty()) first = s.parked.begin()->first;
  if (first == s.listed) return;
  if (s.listed) open_.erase(*s.listed);
  if (first) open_.emplace(*first, &s);
  s.listed = first;
}

slot_book::slot* slot_book::full_claim(const queue& q) {
  for (auto claim : q.claims)
    if (claim->second.used >= claim->second.capacity) return &claim->second;
  return nullptr;
}

} // namespace sluice
