#include "actors/journal.hpp"

#include "base/log.hpp"
#include "base/mutant.hpp"
#include "storage/batch_rules.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

namespace {

/// How large an operation will be on disk, roughly: batches are cut by it.
std::size_t weight(const op& o) {
  if (const auto* step = std::get_if<put_step>(&o)) return 64 + step->step.payload.size();
  if (const auto* what = std::get_if<put_event>(&o)) return 200 + what->what->data.size();
  if (const auto* row = std::get_if<put_row>(&o)) return row->value.size();
  return 300;
}

} // namespace

void journal_state::add(append& a) {
  if (a.droppable && room == store_state::full) return refuse(a.from, a.id);
  if (!a.patient && !std::exchange(wanted, true) && !under_way) self->send(self, flush_atom_v);
  gathered.push_back(std::move(a));
}

/// Takes whole appends, so that each of them is in one commit, up to the limits. What only removes
/// is committed on its own: a full store takes it.
void journal_state::flush() {
  if (under_way) return;
  if (gathered.empty()) wanted = false;
  if (gathered.empty() && flushes.empty()) return;
  current = batch{};
  std::size_t bytes = 0;
  std::size_t taken = 0;
  while (!gathered.empty()) {
    auto& next = gathered.front();
    drop_late_marks(next.ops);
    std::size_t size = 0;
    for (const auto& o : next.ops)
      size += weight(o);
    const auto removes = !next.ops.empty() && only_removes(next.ops);
    if (taken != 0
        && (removes || current.ops.size() + next.ops.size() > config.batch_records_max
            || bytes + size > config.batch_bytes_max))
      break;
    bytes += size;
    ++taken;
    senders.push_back({std::move(next.from), next.id, next.ops.size(), next.droppable});
    if (current.ops.empty())
      current.ops = std::move(next.ops);
    else
      std::move(next.ops.begin(), next.ops.end(), std::back_inserter(current.ops));
    gathered.pop_front();
    if (removes) break;
  }
  if (gathered.empty()) wanted = false;
  for (auto& [after, promise] : flushes)
    if (after <= taken)
      answered_by_current.push_back(std::move(promise));
    else
      after -= taken;
  std::erase_if(flushes, [](const auto& f) { return !f.second.pending(); });
  if (current.ops.empty()) return acknowledge();
  stamp();
  if (mutated(mutant::ack_before_commit)) {
    for (auto& s : senders)
      if (s.from) self->send(s.from, appended{{s.id}, {}});
    senders.clear();
  }
  submit();
}

/// Acknowledgements that come after the end of their run, which was cancelled meanwhile, are
/// nobody's any more; the store would refuse the batch.
void journal_state::drop_late_marks(std::vector<op>& ops) {
  auto ends_here = [this](const run_id& run) {
    return std::ranges::any_of(current.ops, [&](const op& o) {
      const auto* row = std::get_if<put_run>(&o);
      return row != nullptr && row->row->id == run && is_terminal(row->row->status);
    });
  };
  std::erase_if(ops, [&](const op& o) {
    const auto* marks = std::get_if<put_marks>(&o);
    return marks != nullptr && (!disk->is_live(marks->run) || ends_here(marks->run));
  });
}

void journal_state::stamp() {
  current.shard = grant.shard;
  current.epoch = grant.epoch;
  current.expected_head = grant.head;
  current.at = clock.now(self->clock().now());
  current.id = batch_id{ids.next(current.at)};
}

/// The store had no room. What only removes goes first: it makes the room (F21).
void journal_state::try_again() {
  auto removal = std::find_if(gathered.begin(), gathered.end(),
                              [](const append& a) { return only_removes(a.ops); });
  if (stuck || removal == gathered.end()) return submit();
  stuck = held_commit{std::move(current), std::exchange(senders, {}),
                      std::exchange(answered_by_current, {})};
  auto first = take_out(removal);
  current = batch{};
  senders.push_back({std::move(first.from), first.id, first.ops.size(), false});
  current.ops = std::move(first.ops);
  stamp();
  submit();
}

append journal_state::take_out(std::deque<append>::iterator place) {
  const auto before = static_cast<std::size_t>(place - gathered.begin());
  for (auto& [after, promise] : flushes)
    if (after > before) --after;
  auto taken = std::move(*place);
  gathered.erase(place);
  return taken;
}

/// Whoever asked from outside shall hear that there is no room, not wait for it.
void journal_state::refuse_requests() {
  std::size_t at = 0;
  std::erase_if(senders, [&](const sender& s) {
    const auto from = current.ops.begin() + static_cast<std::ptrdiff_t>(at);
    if (!s.droppable) {
      at += s.ops;
      return false;
    }
    current.ops.erase(from, from + static_cast<std::ptrdiff_t>(s.ops));
    refuse(s.from, s.id);
    return true;
  });
  for (auto i = gathered.size(); i-- > 0;) {
    if (!gathered[i].droppable) continue;
    const auto out = take_out(gathered.begin() + static_cast<std::ptrdiff_t>(i));
    refuse(out.from, out.id);
  }
  // With nothing else to write, this finds out when there is room.
  if (current.ops.empty()) current.ops.push_back(put_row{table::node, "room", "true"});
}

void journal_state::refuse(const commit_sink& who, token id) {
  self->send(who, appended{{}, {id}});
}

void journal_state::submit() {
  under_way = true;
  no_room = false;
  std::vector<batch> one;
  one.push_back(std::move(current));
  disk->submit(one);
  current = std::move(one.front());
  poll();
}

void journal_state::poll() {
  for (const auto& r : disk->finished(duration{0}))
    if (r.id == current.id) return judge(r);
  self->delayed_send(self, std::chrono::milliseconds{1}, retry_atom_v);
}

void journal_state::judge(const commit_result& r) {
  switch (r.status) {
  case commit_status::committed:
    grant.head = r.head;
    ++commits;
    records += current.ops.size();
    if (!stuck) set_room(store_state::writable, {});
    return acknowledge();
  case commit_status::unknown: {
    log::warning("the outcome of a commit is unknown, asking", {{"detail", r.detail}});
    if (mutated(mutant::resend_without_probe)) return submit();
    switch (disk->probe(current.shard, current.epoch, current.id, current.expected_head)) {
    case probe_answer::committed: {
      auto logged = std::count_if(current.ops.begin(), current.ops.end(), is_logged);
      auto resolved = r;
      resolved.status = commit_status::committed;
      resolved.head = current.expected_head + 1 + static_cast<std::uint64_t>(logged);
      return judge(resolved);
    }
    case probe_answer::absent:
      return submit();
    case probe_answer::fenced:
      return fail("the store has another owner", r.detail);
    case probe_answer::regressed:
      return fail("the store lost commits (I21)", r.detail);
    }
    return;
  }
  case commit_status::full:
    no_room = true;
    set_room(store_state::full, r.detail);
    refuse_requests();
    self->delayed_send(self, config.retry_interval, retry_atom_v);
    return;
  case commit_status::conflict:
    if (mutated(mutant::resend_without_probe)) {
      current.expected_head = r.head;
      return submit();
    }
    return fail("the head of the journal moved under us", r.detail);
  case commit_status::fenced:
    return fail("the store has another owner", r.detail);
  case commit_status::failed:
    return fail("the store cannot commit", r.detail);
  }
}

void journal_state::acknowledge() {
  under_way = false;
  // One message per sender, however many of its appends were in this commit.
  std::vector<std::pair<commit_sink, appended>> answers;
  for (auto& s : senders) {
    if (!s.from) continue;
    auto known = std::find_if(answers.begin(), answers.end(),
                              [&](const auto& a) { return a.first == s.from; });
    if (known == answers.end()) known = answers.insert(answers.end(), {s.from, appended{}});
    known->second.ids.push_back(s.id);
  }
  senders.clear();
  tell_observers();
  for (auto& [to, what] : answers)
    self->send(to, std::move(what));
  for (auto& promise : answered_by_current)
    promise.deliver(flushed{grant.head});
  answered_by_current.clear();
  current = batch{};
  if (stuck) {
    auto held = std::move(*std::exchange(stuck, std::nullopt));
    current = std::move(held.what);
    senders = std::move(held.senders);
    answered_by_current = std::move(held.answers);
    // Nothing of it was written: it may follow what was.
    stamp();
    return submit();
  }
  if (wanted || !flushes.empty()) self->send(self, flush_atom_v);
}

void journal_state::tell_observers() {
  if (observers.empty()) return;
  events_committed told;
  auto seq = current.expected_head + 1;
  for (std::size_t i = 0; i < current.ops.size(); ++i) {
    auto& o = current.ops[i];
    if (is_logged(o)) ++seq;
    auto* put = std::get_if<put_event>(&o);
    if (put == nullptr) continue;
    put->what->seq = seq;
    if (put->what->kind != event_kind::run_requested) {
      if (put->what->kind != event_kind::step_failed) told.events.push_back(std::move(*put->what));
      continue;
    }
    // The row of a new run follows its first event.
    if (i + 1 == current.ops.size()) continue;
    if (auto* row = std::get_if<put_run>(&current.ops[i + 1]); row != nullptr)
      told.requested.push_back({std::move(*row->row), std::move(put->what->data), seq});
  }
  if (told.events.empty() && told.requested.empty()) return;
  for (std::size_t i = 0; i + 1 < observers.size(); ++i)
    self->send(observers[i], told);
  self->send(observers.back(), std::move(told));
}

void journal_state::set_room(store_state s, const std::string& detail) {
  if (room == s) return;
  room = s;
  if (s == store_state::full)
    log::error("the store is full: read-only until there is room", {{"detail", detail}});
  else
    log::info("the store has room again");
  for (const auto& who : observers)
    self->send(who, store_changed{s, detail});
}

void journal_state::fail(const std::string& what, const std::string& detail) {
  log::error(what + "; the node stops, the next start rereads the journal", {{"detail", detail}});
  self->quit(make_error(errc::storage_failed, what + ": " + detail));
}

journal_actor::behavior_type journal(journal_actor::stateful_pointer<journal_state> self,
                                     store* disk, shard_grant grant, engine_clock clock,
                                     uuid_source ids, journal_config config) {
  auto& s = self->state;
  s.disk = disk;
  s.grant = grant;
  s.clock = clock;
  s.ids = ids;
  s.config = config;
  return {
    [self](inspect_atom) {
      const auto& st = self->state;
      return card_of(self,
                     st.room == store_state::full ? "read-only: the store is full" : "writing",
                     st.under_way ? "the store" : "");
    },
    counted(self, [self](append& a) { self->state.add(a); }),
    [self](const observe_journal& o) { self->state.observers.push_back(o.who); },
    [self](const flush_journal& f) -> caf::result<flushed> {
      auto& st = self->state;
      if (f.mark_clean) {
        append note;
        note.ops.push_back(put_row{table::node, "clean", "true"});
        st.gathered.push_back(std::move(note));
      }
      auto promise = self->make_response_promise<flushed>();
      st.flushes.emplace_back(st.gathered.size(), promise);
      if (!st.under_way) self->send(self, flush_atom_v);
      return promise;
    },
    counted(self, [self](flush_atom) { self->state.flush(); }),
    [self](retry_atom) {
      auto& st = self->state;
      if (!st.under_way) return;
      if (st.no_room)
        st.try_again();
      else
        st.poll();
    },
  };
}

} // namespace sluice
