#include "tests/simulation/journal_watch.hpp"

#include "base/hash.hpp"
#include "base/json.hpp"
#include "tests/simulation/flows.hpp"
#include "workflows/context.hpp"

#include <algorithm>

namespace sluice::simulation {

namespace {

bool is_result(const step_record& r) {
  return r.status == step_status::done || r.status == step_status::failed;
}

std::string name_of(const step_record& r) {
  return std::string{to_string(r.kind)} + " '" + r.name + "' of " + to_string(r.run);
}

bool has_event(const batch& b, const run_id& run, std::string_view kind) {
  return std::ranges::any_of(b.ops, [&](const op& o) {
    const auto* e = std::get_if<put_event>(&o);
    return e != nullptr && e->what->run == run && (kind.empty() || e->what->kind == kind);
  });
}

bool has_end(const batch& b, const run_id& run) {
  return std::ranges::any_of(b.ops, [&](const op& o) {
    const auto* r = std::get_if<put_run>(&o);
    return r != nullptr && r->row->id == run && is_terminal(r->row->status);
  });
}

} // namespace

const step_record* journal_watch::result_of(const run_id& run, const std::string& step) const {
  const auto known = runs_.find(run);
  if (known == runs_.end()) return nullptr;
  const auto ordinal = known->second.results.find(step);
  if (ordinal == known->second.results.end()) return nullptr;
  return &known->second.newest.at(ordinal->second);
}

std::uint64_t journal_watch::events_of(const std::string& kind, const std::string& data) const {
  const auto known = counts_.find({kind, data});
  return known == counts_.end() ? 0 : known->second;
}

std::uint64_t journal_watch::events_with_key(const std::string& key) const {
  const auto known = keys_.find(key);
  return known == keys_.end() ? 0 : known->second;
}

void journal_watch::add_to_trace(std::string_view text) {
  trace_ = hash64(text, trace_);
}

void journal_watch::booted(timestamp at) {
  on_time_since_ = at;
  // A clock that went back: what is left of a wait is at most its own duration (I20).
  for (auto& [id, run] : runs_) {
    for (auto& [ordinal, due] : run.due) {
      const auto& wait = run.newest.at(ordinal);
      if (at < wait.at) due = std::min(due, at + (wait.until - wait.at));
    }
  }
}

void journal_watch::committed(const memory_disk& disk, const batch& b) {
  ++commits_;
  check_chain(disk, b);
  std::set<run_id> touched;
  auto seq = b.expected_head + 1;
  for (const auto& o : b.ops) {
    if (is_logged(o)) ++seq;
    if (const auto* step = std::get_if<put_step>(&o)) {
      take(disk, b, *step, seq);
      touched.insert(step->step.run);
    } else if (const auto* e = std::get_if<put_event>(&o)) {
      take(b, *e, seq);
    } else if (const auto* row = std::get_if<put_run>(&o)) {
      take(disk, b, *row);
      touched.insert(row->row->id);
    } else if (const auto* wake = std::get_if<set_wake>(&o)) {
      touched.insert(wake->run);
    }
  }
  for (const auto& id : touched)
    check_wake(disk, id);
}

/// I3, I5, and that a batch is one piece.
void journal_watch::check_chain(const memory_disk& disk, const batch& b) {
  const auto logged =
    static_cast<std::uint64_t>(std::count_if(b.ops.begin(), b.ops.end(), is_logged));
  found_.expect(b.expected_head == head_, "I5", "a batch was written at a head it did not expect");
  found_.expect(disk.head == head_ + 1 + logged, "I6",
                "the head moved by another number than the batch has records");
  found_.expect(batches_.insert(b.id).second, "I5",
                "a batch was written twice: " + to_string(b.id));
  found_.expect(b.epoch >= epoch_, "I3", "an older epoch wrote after a newer one");
  head_ = disk.head;
  epoch_ = b.epoch;
  add_to_trace(to_string(b.id));
  add_to_trace(std::to_string(head_) + " " + std::to_string(to_millis(b.at)) + " "
               + std::to_string(messages()));
}

void journal_watch::take(const memory_disk& disk, const batch& b, const put_step& o,
                         std::uint64_t seq) {
  const auto& r = o.step;
  add_to_trace(r.name);
  add_to_trace(r.payload);
  auto& run = runs_[r.run];
  found_.expect(!is_terminal(run.row.status), "I22", name_of(r) + " is written after the end");
  const auto stored = disk.log.find(seq);
  const auto* copy =
    stored == disk.log.end() ? nullptr : std::get_if<step_record>(&stored->second.what);
  found_.expect(copy != nullptr && *copy == r, "I6", name_of(r) + " is not where its batch put it");
  if (r.ordinal == no_ordinal) return;
  const auto known = run.newest.find(r.ordinal);
  const auto* before = known == run.newest.end() ? nullptr : &known->second;
  if (before != nullptr) {
    found_.expect(!is_result(*before), "I2", name_of(r) + " has a second result");
    found_.expect(before->name == r.name && before->kind == r.kind, "I7",
                  name_of(r) + " stands where " + name_of(*before) + " stood");
  }
  switch (r.kind) {
  case step_kind::sleep:
    check_sleep(run, r, before);
    break;
  case step_kind::wait:
    check_wait(run, r, before, seq);
    break;
  case step_kind::invoke:
    check_child(b, r, before);
    break;
  case step_kind::send:
    found_.expect(has_event(b, r.run, {}), "P5", name_of(r) + " is done without its event");
    break;
  case step_kind::work:
  case step_kind::version:
    break;
  }
  if (is_result(r)) {
    run.results[r.name] = r.ordinal;
    run.due.erase(r.ordinal);
  } else if (r.kind == step_kind::sleep) {
    run.due[r.ordinal] = r.until;
  }
  run.newest[r.ordinal] = r;
}

/// I12, P4: registered first, never early, and not late while the node was able to write.
void journal_watch::check_sleep(const known_run& run, const step_record& r,
                                const step_record* before) {
  if (!is_result(r)) return;
  if (before == nullptr || before->status != step_status::waiting)
    return found_.report("I12", name_of(r) + " ended without a stored wake-up");
  const auto due = run.due.at(r.ordinal);
  const auto at = std::to_string(to_millis(r.at));
  found_.expect(r.at >= due, "I12",
                name_of(r) + " woke at " + at + ", due at " + std::to_string(to_millis(due)));
  found_.expect(r.at <= std::max(due, on_time_since_) + lateness_max, "I12",
                name_of(r) + " woke late, at " + at + ", due at " + std::to_string(to_millis(due)));
}

/// P6: the first event since the run began that no earlier wait of it took; nothing only if none
/// was there in time.
void journal_watch::check_wait(known_run& run, const step_record& r, const step_record* before,
                               std::uint64_t seq) {
  if (!is_result(r)) return;
  if (before == nullptr) return found_.report("P6", name_of(r) + " ended before it began");
  const auto target = json::decode<wait_target>(before->payload);
  const auto kept = json::decode<std::optional<detail::kept_event>>(r.payload);
  if (!target || !kept) return found_.report("P6", name_of(r) + " cannot be read");
  auto& taken = run.taken[target->subject];
  const auto& events = events_[{target->kind, target->subject}];
  const auto next = std::ranges::find_if(
    events, [&](const known_event& e) { return e.seq > std::max(taken, run.first_seq); });
  if (*kept) {
    found_.expect(next != events.end() && next->seq == (*kept)->seq, "P6",
                  name_of(r) + " took event " + std::to_string((*kept)->seq)
                    + " and not the first");
    found_.expect(jumped_ || before->until == never || next == events.end()
                    || next->at <= before->until,
                  "P6", name_of(r) + " took an event that came after its time-out");
    taken = (*kept)->seq;
    return;
  }
  found_.expect(before->until != never, "P6", name_of(r) + " has no time-out and ended by one");
  found_.expect(jumped_ || r.at >= before->until, "I12", name_of(r) + " timed out early");
  const bool missed = !jumped_ && next != events.end() && next->seq < seq
                      && next->at <= before->until && next->committed < before->until;
  found_.expect(!missed, "P6", name_of(r) + " timed out although its event was there");
}

/// P7, I6: the child begins with the record that waits for it, and its result is the child's.
void journal_watch::check_child(const batch& b, const step_record& r, const step_record* before) {
  if (r.status == step_status::waiting) {
    const auto ref = json::decode<child_ref>(r.payload);
    found_.expect(ref && has_event(b, run_id{ref->child}, event_kind::run_requested), "I6",
                  name_of(r) + " waits for a child that its batch does not begin");
    return;
  }
  if (before == nullptr) return; // refused without a child
  const auto ref = json::decode<child_ref>(before->payload);
  const auto child = ref ? runs_.find(run_id{ref->child}) : runs_.end();
  if (child == runs_.end() || !is_terminal(child->second.row.status))
    return found_.report("P7", name_of(r) + " ended before its child");
  const auto outcome = json::decode<run_outcome>(child->second.outcome);
  if (!outcome) return found_.report("P7", name_of(r) + ": the child's outcome cannot be read");
  const bool ended_well = outcome->status == run_status::completed;
  found_.expect(ended_well == (r.status == step_status::done)
                  && (!ended_well || outcome->result.text == r.payload),
                "P7", name_of(r) + " is not what its child gave: " + outcome->result.text);
}

void journal_watch::take(const batch& b, const put_event& o, std::uint64_t seq) {
  const auto& e = *o.what;
  add_to_trace(e.kind);
  add_to_trace(e.data);
  if (!e.key.empty()) ++keys_[e.key];
  events_[{e.kind, e.subject}].push_back({seq, e.at, now()});
  const auto count = ++counts_[{e.kind, e.data}];
  found_.expect(e.run.is_nil() || e.kind != go_kind || count == 1, "P5",
                "event " + e.data + " was sent twice");
  found_.expect(e.kind != failed_kind || has_end(b, e.run), "P13",
                "what on_failure sent is not in the commit that ends " + to_string(e.run));
  if (e.kind == event_kind::run_requested) runs_[e.run].first_seq = seq;
  if (e.kind == event_kind::run_ended) {
    found_.expect(has_end(b, e.run), "I6", "run.ended of " + to_string(e.run) + " without its row");
    auto& run = runs_[e.run];
    found_.expect(run.outcome.empty(), "I22", "run " + to_string(e.run) + " ended twice");
    run.outcome = e.data;
  }
}

void journal_watch::take(const memory_disk& disk, const batch& b, const put_run& o) {
  const auto& row = *o.row;
  auto& run = runs_[row.id];
  add_to_trace(to_string(row.status));
  add_to_trace(row.reason);
  found_.expect(!is_terminal(run.row.status), "I22",
                "the row of " + to_string(row.id) + " changed after the end");
  found_.expect(run.row.why == ending::none || run.row.why == row.why, "I22",
                "run " + to_string(row.id) + " changed why it ends");
  found_.expect(!row.reason.starts_with("nondeterministic"), "I7",
                "run " + to_string(row.id) + " is parked: " + row.reason);
  if (is_terminal(row.status)) {
    found_.expect(has_event(b, row.id, event_kind::run_ended), "I6",
                  "run " + to_string(row.id) + " ended without its event");
  }
  const auto stored = disk.runs.find(row.id);
  found_.expect(stored != disk.runs.end(), "I6", "the row of " + to_string(row.id) + " is missing");
  run.row = row;
}

/// F7, I12: whatever waits for a time has a stored wake-up no later than that.
void journal_watch::check_wake(const memory_disk& disk, const run_id& id) {
  const auto stored = disk.runs.find(id);
  if (stored == disk.runs.end()) return;
  const auto& run = runs_[id];
  if (is_terminal(run.row.status) || run.row.status == run_status::parked) return;
  const auto from = run.row.why == ending::none ? 0 : failure_ordinal;
  for (auto step = run.newest.lower_bound(from); step != run.newest.end(); ++step) {
    const auto& r = step->second;
    if (r.status != step_status::waiting || r.until == never || r.until <= now()) continue;
    const auto wake = stored->second.wake_at;
    found_.expect(wake != never && wake <= r.until, "I12",
                  name_of(r) + " waits until " + std::to_string(to_millis(r.until))
                    + ", the stored wake-up is " + std::to_string(to_millis(wake)));
  }
}

} // namespace sluice::simulation
