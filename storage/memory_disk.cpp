#include "storage/memory_disk.hpp"

#include "storage/batch_rules.hpp"
#include "storage/keys.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice {

namespace {

class disk_context final : public batch_context {
public:
  explicit disk_context(const memory_disk& disk) : disk_{disk} {}

  run_state state_of(const run_id& id) override {
    if (!disk_.runs.contains(id)) return run_state::unknown;
    return disk_.is_live(id) ? run_state::live : run_state::ended;
  }
  bool key_used(std::string_view key) override { return disk_.event_keys.contains(key); }

private:
  const memory_disk& disk_;
};

std::uint64_t bytes_needed(const op& o) {
  if (const auto* s = std::get_if<put_step>(&o)) return codec::bytes_of(s->step);
  if (const auto* m = std::get_if<put_marks>(&o)) return codec::bytes_of(*m);
  if (const auto* r = std::get_if<put_row>(&o)) return r->key.size() + r->value.size();
  if (const auto* e = std::get_if<put_event>(&o)) {
    return codec::bytes_of(*e->what, codec::event_head(*e->what));
  }
  return 0;
}

} // namespace

std::optional<std::string> memory_disk::problem_with(const batch& b) const {
  disk_context context{*this};
  return broken_rule(b, context);
}

bool memory_disk::too_large(const batch& b) const {
  if (quota_bytes == 0 || only_removes(b.ops)) return false;
  std::uint64_t needed = 0;
  for (const auto& o : b.ops)
    needed += bytes_needed(o);
  return used_bytes + needed > quota_bytes;
}

void memory_disk::apply(const batch& b) {
  std::set<run_id> ended_before;
  for (const auto& o : b.ops) {
    if (const auto* trim = std::get_if<trim_run>(&o)) {
      auto found = runs.find(trim->run);
      if (found != runs.end() && is_terminal(found->second.row.status)) {
        ended_before.insert(trim->run);
      }
    }
  }
  const codec::batch_record own{b.id, b.epoch, b.at, positions_of(b) - 1};
  const auto batch_seq = add({}, {{}, own, codec::bytes_of(own), false});
  auto seq = head;
  for (const auto& o : b.ops) {
    if (is_logged(o)) ++seq;
    const auto* e = std::get_if<put_event>(&o);
    if (e != nullptr && e->what->kind == event_kind::run_requested) runs[e->what->run].number = seq;
  }
  for (const auto& o : b.ops)
    apply_op(o, batch_seq, ended_before);
  for (const auto& o : b.ops) {
    const auto* p = std::get_if<put_run>(&o);
    if (p != nullptr && is_terminal(p->row->status)) runs[p->row->id].wake_at = never;
  }
  if (keep_history) history.push_back(b);
}

void memory_disk::apply_op(const op& o, std::uint64_t batch_seq,
                           const std::set<run_id>& ended_before) {
  if (const auto* s = std::get_if<put_step>(&o)) {
    const auto seq = add(s->step.run, {s->step.run, s->step, codec::bytes_of(s->step), false});
    if (s->step.ordinal != no_ordinal) runs[s->step.run].steps[s->step.ordinal] = seq;
  } else if (const auto* m = std::get_if<put_marks>(&o)) {
    add(m->run, {m->run, *m, codec::bytes_of(*m), false});
  } else if (const auto* e = std::get_if<put_event>(&o)) {
    auto stored = *e->what;
    stored.seq = head + 1;
    if (!stored.key.empty()) event_keys[stored.key] = stored.seq;
    const auto bytes = bytes_needed(o);
    add(stored.run, {stored.run, stored, bytes, false});
  } else if (const auto* r = std::get_if<put_run>(&o)) {
    runs[r->row->id].row = *r->row;
    runs[r->row->id].row_corrupt = false;
  } else if (const auto* w = std::get_if<set_wake>(&o)) {
    if (auto found = runs.find(w->run); found != runs.end()) found->second.wake_at = w->at;
  } else if (const auto* p = std::get_if<put_row>(&o)) {
    auto& rows = tables[static_cast<std::size_t>(p->where)];
    if (auto old = rows.find(p->key); old != rows.end()) {
      used_bytes -= old->first.size() + old->second.size();
    }
    rows[p->key] = p->value;
    used_bytes += p->key.size() + p->value.size();
  } else if (const auto* d = std::get_if<del_row>(&o)) {
    auto& rows = tables[static_cast<std::size_t>(d->where)];
    if (auto old = rows.find(d->key); old != rows.end()) {
      used_bytes -= old->first.size() + old->second.size();
      rows.erase(old);
    }
  } else if (const auto* t = std::get_if<trim_run>(&o)) {
    if (ended_before.contains(t->run)) trim(*t);
  } else if (const auto* l = std::get_if<trim_log>(&o)) {
    trim(*l, batch_seq);
  }
}

std::uint64_t memory_disk::add(const run_id& id, record r) {
  ++head;
  used_bytes += r.bytes;
  if (!id.is_nil()) runs[id].seqs.insert(head);
  log.emplace(head, std::move(r));
  return head;
}

void memory_disk::remove(std::uint64_t seq) {
  auto found = log.find(seq);
  if (found == log.end()) return;
  if (const auto* e = std::get_if<event>(&found->second.what)) {
    auto key = event_keys.find(e->key);
    if (key != event_keys.end() && key->second == seq) event_keys.erase(key);
  }
  if (auto owner = runs.find(found->second.run); owner != runs.end()) {
    owner->second.seqs.erase(seq);
    std::erase_if(owner->second.steps, [&](const auto& s) { return s.second == seq; });
  }
  used_bytes -= found->second.bytes;
  log.erase(found);
}

/// The order in which a run is taken apart: newest ordinals first, then the rest from the newest
/// on, the first record last.
void memory_disk::trim(const trim_run& o) {
  auto found = runs.find(o.run);
  if (found == runs.end()) return;
  auto& r = found->second;
  std::vector<std::uint64_t> order;
  const auto steps = r.steps;
  std::set<std::uint64_t> others = r.seqs;
  for (auto s = steps.rbegin(); s != steps.rend(); ++s) {
    order.push_back(s->second);
    others.erase(s->second);
  }
  order.insert(order.end(), others.rbegin(), others.rend());
  order.resize(std::min<std::size_t>(order.size(), o.records_max));
  for (auto seq : order)
    remove(seq);
  if (!r.seqs.empty()) return;
  runs.erase(found);
  auto& certs = tables[static_cast<std::size_t>(table::cert)];
  const auto prefix = keys::cert_prefix(o.run);
  for (auto c = certs.lower_bound(prefix); c != certs.end() && c->first.starts_with(prefix);) {
    used_bytes -= c->first.size() + c->second.size();
    c = certs.erase(c);
  }
}

void memory_disk::trim(const trim_log& o, std::uint64_t batch_seq) {
  const auto below = std::min(o.below, batch_seq);
  for (std::uint32_t n = 0; n < o.records_max && !log.empty(); ++n) {
    const auto first = log.begin();
    if (!first->second.run.is_nil() || first->first >= below) return;
    trimmed = first->first + 1;
    remove(first->first);
  }
}

void memory_disk::lose_suffix(std::size_t batches) {
  std::lock_guard guard{lock};
  auto kept = std::move(history);
  kept.resize(kept.size() - std::min(batches, kept.size()));
  log.clear();
  runs.clear();
  event_keys.clear();
  for (auto& rows : tables)
    rows.clear();
  head = trimmed = used_bytes = 0;
  history.clear();
  for (const auto& b : kept)
    apply(b);
}

void memory_disk::corrupt_record(const run_id& id) {
  std::lock_guard guard{lock};
  auto found = runs.find(id);
  if (found != runs.end() && !found->second.seqs.empty()) {
    log.at(*found->second.seqs.rbegin()).corrupt = true;
  }
}

void memory_disk::corrupt_row(const run_id& id) {
  std::lock_guard guard{lock};
  if (auto found = runs.find(id); found != runs.end()) found->second.row_corrupt = true;
}

bool memory_disk::is_live(const run_id& id) const {
  auto found = runs.find(id);
  return found != runs.end() && !is_terminal(found->second.row.status);
}

std::uint64_t memory_disk::oldest_live() const {
  auto oldest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [id, r] : runs) {
    if (!is_terminal(r.row.status)) oldest = std::min(oldest, r.number);
  }
  return oldest;
}

} // namespace sluice
