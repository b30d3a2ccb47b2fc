#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/mutant.hpp"
#include "rules/retry.hpp"
#include "rules/trace.hpp"
#include "rules/wake.hpp"
#include "workflows/catalog.hpp"
#include "workflows/context.hpp"
#include "workflows/errors.hpp"
#include "workflows/machine.hpp"

#include <algorithm>

namespace sluice {

namespace {

/// What the record of a step that will be run again says beside its time.
struct pause_note {
  std::string reason;
  bool gate = false;
  bool slot_back = false;
};

template <class Fields>
void describe(Fields& f, pause_note& x) {
  f("reason", x.reason);
  f("gate", x.gate);
  f("slotBack", x.slot_back);
}

/// The data of a `step.failed` event.
struct attempt_note {
  std::string step;
  std::uint32_t attempt = 0;
  bool last = false;
  failure error;
};

template <class Fields>
void describe(Fields& f, attempt_note& x) {
  f("step", x.step);
  f("attempt", x.attempt);
  f("last", x.last);
  f("error", x.error);
}

} // namespace

bool machine::ask(operation* const* group, std::size_t size, std::coroutine_handle<> waiter) {
  // A run that is being parked or stopped never goes on from here: its frames are about to go.
  if (park_reason_ || timed_out_ || (state_ != state::running && state_ != state::ending))
    return true;
  const auto first = state_ == state::ending ? failure_ordinal : 0;
  if (next_ordinal_ - first + size > limits_.steps_max) {
    request_park("too many steps: the limit is " + std::to_string(limits_.steps_max));
    return true;
  }
  waiter_ = waiter;
  group_ = group;
  group_size_ = static_cast<std::uint32_t>(size);
  group_first_ = next_ordinal_;
  unsettled_ = group_size_;
  for (std::size_t i = 0; i < size; ++i)
    group[i]->ordinal_ = next_ordinal_++;
  if (row_.started_at == never) {
    row_.started_at = out_->now;
    row_stale_ = true;
    if (flow_.start_timeout && out_->now - admitted_at_ > *flow_.start_timeout) {
      timed_out_ = failure{"timed_out", "the run did not start within its time-out", {}, false};
      return true;
    }
    arm_deadline();
  }
  asking_ = true;
  match_group();
  asking_ = false;
  if (park_reason_ || unsettled_ != 0) return true;
  group_ = nullptr;
  group_size_ = 0;
  return false;
}

/// First what the journal knows of the whole group, then what is new: a replay that differs parks
/// before any new effect (I7).
void machine::match_group() {
  bool open = false;
  for (std::uint32_t i = 0; i < group_size_ && !park_reason_; ++i) {
    auto& op = *group_[i];
    if (op.phase_ == operation::phase::unasked || op.phase_ == operation::phase::loading) match(op);
    open = open || op.phase_ == operation::phase::unasked || op.phase_ == operation::phase::loading;
  }
  if (park_reason_) return;
  if (open) {
    if (memo_at_ < memo_.size())
      return request_park(
        "nondeterministic: the journal goes on with step '" + memo_[memo_at_].name
        + "', which the code reaches only after steps that the journal does not know");
    if (more_) return load_more();
    replaying_ = false;
    memo_ = {};
    memo_at_ = 0;
    for (std::uint32_t i = 0; i < group_size_ && !park_reason_; ++i)
      if (group_[i]->phase_ == operation::phase::unasked
          || group_[i]->phase_ == operation::phase::loading)
        launch(*group_[i]);
    refresh_wake();
  } else if (unsettled_ != 0) {
    replaying_ = false;
    wake_at_ = earliest_wake(); // the commit that recorded these waits stored it
  }
  note_gates();
}

void machine::match(operation& op) {
  if (state_ == state::ending && op.kind_ == step_kind::send) return launch(op);
  if (memo_at_ == memo_.size()) {
    if (more_) {
      op.phase_ = operation::phase::loading;
      load_more();
    }
    return;
  }
  auto& row = memo_[memo_at_];
  if (row.ordinal != op.ordinal_) return; // a neighbour's: this one has no record yet
  if (row.kind != op.kind_ || row.name != op.name_) {
    return request_park("nondeterministic: the journal has " + std::string{to_string(row.kind)}
                        + " '" + row.name + "' where the code asks for "
                        + std::string{to_string(op.kind_)} + " '" + op.name_ + "'");
  }
  ++memo_at_;
  from_memo(op, row);
}

void machine::from_memo(operation& op, step_record& row) {
  op.attempt_ = row.attempt;
  op.at_ = row.at;
  gated_ = std::max(gated_, row.gated);
  switch (row.status) {
  case step_status::done:
    op.payload_ = std::move(row.payload);
    if (op.kind_ == step_kind::wait) {
      auto kept = json::decode<std::optional<detail::kept_event>>(op.payload_);
      if (kept && *kept) {
        auto& newest = newest_taken(static_cast<wait_operation&>(op).target);
        newest = std::max(newest, (*kept)->seq);
      }
    }
    return settle(op);
  case step_status::failed: {
    auto why = json::decode<failure>(row.payload);
    op.failed_ = why ? std::move(*why) : failure{"corrupt", "an unreadable error", op.name_, false};
    return settle(op);
  }
  case step_status::started:
    if (by_person_) {
      by_person_ = false;
      return begin_work(op);
    }
    return request_park("undecided: step '" + op.name_
                        + "' must not be repeated, and it is not known whether it was done;"
                          " resume repeats it, cancel does not");
  case step_status::waiting:
    break;
  }
  op.until_ = cut_wait(row.at, row.until, out_->now);
  switch (op.kind_) {
  case step_kind::work: {
    auto note = json::decode<pause_note>(row.payload);
    if (note) {
      op.at_gate_ = note->gate;
      op.slot_ = note->slot_back ? slot_use::give_back : slot_use::keep;
    }
    break;
  }
  case step_kind::invoke: {
    auto ref = json::decode<child_ref>(row.payload);
    if (!ref) return unreadable(op, detail_of(ref.error()));
    static_cast<invoke_operation&>(op).child = run_id{ref->child};
    break;
  }
  case step_kind::sleep:
  case step_kind::send:
  case step_kind::wait:
  case step_kind::version:
    break;
  }
  wait_begins(op);
}

void machine::launch(operation& op) {
  const auto now = out_->now;
  switch (op.kind_) {
  case step_kind::work:
    return begin_work(op);
  case step_kind::sleep: {
    op.until_ = static_cast<sleep_operation&>(op).end(now);
    if (mutated(mutant::timers_in_memory)) {
      op.at_ = now;
      return wait_begins(op);
    }
    save(op, step_status::waiting, "null", op.until_);
    op.phase_ = operation::phase::pausing;
    return;
  }
  case step_kind::send: {
    for (auto& draft : static_cast<send_operation&>(op).events) {
      event e;
      e.run = row_.id;
      e.kind = std::move(draft.kind);
      e.subject = std::move(draft.subject);
      e.correlation = row_.correlation;
      e.traceparent = row_.traceparent;
      e.at = now;
      e.data = std::move(draft.data);
      if (state_ == state::ending)
        parting_.push_back(std::move(e));
      else
        out_->ops.push_back(put_event{std::move(e)});
    }
    if (state_ == state::ending) return settle(op);
    save(op, step_status::done, "null");
    op.phase_ = operation::phase::saving;
    return;
  }
  case step_kind::wait: {
    auto& wait = static_cast<wait_operation&>(op);
    if (wait.timeout) op.until_ = now + *wait.timeout;
    save(op, step_status::waiting, json::encode(wait.target), op.until_);
    op.phase_ = operation::phase::pausing;
    return;
  }
  case step_kind::invoke:
    return open_child(static_cast<invoke_operation&>(op));
  case step_kind::version:
    return;
  }
}

void machine::begin_work(operation& op) {
  if (out_->draining) {
    op.phase_ = operation::phase::held;
    return;
  }
  if (count_crash_ && !mutated(mutant::crash_not_counted)) {
    op.phase_ = operation::phase::held;
    if (crash_saving_) return;
    crash_saving_ = true;
    ++row_.crashes;
    row_.crash_seq = last_result_seq_;
    row_.status = run_status::recovering;
    return save_row(commit_of::crash);
  }
  if (!op.repeatable_ && op.phase_ != operation::phase::starting) {
    save(op, step_status::started, "null");
    op.phase_ = operation::phase::starting;
    return;
  }
  op.phase_ = operation::phase::working;
  op.until_ = never;
  op.start_work(*this, attempt{*this, op.ordinal_, op.name_, op.attempt_});
}

void machine::work_done(operation& op, std::string payload) {
  if (payload.size() > limits_.result_bytes_max) {
    ++op.attempt_;
    return give_up(op, failure{std::string{to_string(errc::too_large)},
                               "the result is larger than "
                                 + std::to_string(limits_.result_bytes_max) + " bytes",
                               op.name_, false});
  }
  op.payload_ = std::move(payload);
  save(op, step_status::done, op.payload_);
  op.phase_ = operation::phase::saving;
}

void machine::work_failed(operation& op, std::exception_ptr why) {
  failed_attempt failed;
  failure error{std::string{to_string(errc::step_failed)}, {}, op.name_, true};
  try {
    std::rethrow_exception(why);
  } catch (const wait_until& gate) {
    failed = {failure_kind::wait_until, {}, gate.until(), gate.slots()};
    error.message = gate.what();
  } catch (const retry_after& later) {
    failed = {failure_kind::retry_after, later.wait(), {}, slot_use::keep};
    error.message = later.what();
  } catch (const non_retriable& final) {
    failed.kind = failure_kind::non_retriable;
    error.code = final.code();
    error.message = final.what();
    error.retriable = false;
  } catch (const std::exception& other) {
    error.message = other.what();
  } catch (...) {
    error.message = "the work threw what is no exception";
  }
  const bool counts = failed.kind != failure_kind::wait_until;
  const auto attempts = op.attempt_ + (counts ? 1 : 0);
  const auto* options = op.options();
  auto config = flow_.retry.value_or(limits_.retry);
  if (options != nullptr && options->retry) config = *options->retry;
  const auto entropy = mix64(std::hash<run_id>{}(row_.id), op.ordinal_);
  const auto next = after_failure(failed, attempts, config, entropy, out_->now);
  op.attempt_ = attempts;
  if (next.action == retry_action::give_up) return give_up(op, std::move(error));
  op.slot_ = next.slot;
  if (next.action == retry_action::wait) return pause(op, next.at, error.message, true);
  announce(event_kind::step_failed, to_string(row_.id),
           json::encode(attempt_note{op.name_, attempts, false, error}));
  pause(op, next.at, error.message, false);
}

void machine::give_up(operation& op, failure why) {
  announce(event_kind::step_failed, to_string(row_.id),
           json::encode(attempt_note{op.name_, op.attempt_, true, why}));
  op.failed_ = std::move(why);
  save(op, step_status::failed, json::encode(*op.failed_));
  op.phase_ = operation::phase::saving;
}

void machine::pause(operation& op, timestamp until, std::string_view reason, bool at_gate) {
  op.until_ = until;
  op.at_gate_ = at_gate;
  save(op, step_status::waiting,
       json::encode(pause_note{std::string{reason}, at_gate, op.slot_ == slot_use::give_back}),
       until);
  op.phase_ = operation::phase::pausing;
  refresh_wake();
}

/// The wait is in the journal: now wait.
void machine::wait_begins(operation& op) {
  op.phase_ = operation::phase::waiting;
  note_calm();
  if (op.until_ != never) out_->timers.push_back({op.until_, row_.id});
  if (op.kind_ == step_kind::wait || op.kind_ == step_kind::invoke) ask_event(op, false);
  if (op.kind_ == step_kind::work && op.at_gate_ && op.slot_ == slot_use::give_back
      && !slots_away_) {
    slots_away_ = true;
    out_->slots_returned.push_back(row_.id);
  }
  note_gates();
}

void machine::wait_over(operation& op) {
  switch (op.kind_) {
  case step_kind::work:
    if (slots_away_) {
      if (op.phase_ != operation::phase::queueing) out_->slots_wanted.push_back(row_.id);
      op.phase_ = operation::phase::queueing;
      return;
    }
    begin_work(op);
    break;
  case step_kind::sleep:
    op.until_ = never;
    save(op, step_status::done, "null");
    op.phase_ = operation::phase::saving;
    break;
  case step_kind::wait:
    op.phase_ = operation::phase::asking;
    ask_event(op, true);
    break;
  case step_kind::invoke:
  case step_kind::send:
  case step_kind::version:
    break;
  }
  note_gates();
}

void machine::ask_event(operation& op, bool last) {
  if (op.question_ != 0) out_->forgotten.push_back(op.question_);
  op.question_ = out_->next_token++;
  effects::question q{self_, op.ordinal_, {}};
  q.what.id = op.question_;
  q.what.last = last;
  if (op.kind_ == step_kind::invoke) {
    q.what.kind = event_kind::run_ended;
    q.what.subject = to_string(static_cast<invoke_operation&>(op).child);
    q.what.after = first_seq_;
  } else {
    const auto& target = static_cast<wait_operation&>(op).target;
    q.what.kind = target.kind;
    q.what.subject = target.subject;
    q.what.after = std::max(first_seq_, newest_taken(target));
  }
  out_->questions.push_back(std::move(q));
}

void machine::event_taken(wait_operation& op, event found) {
  auto& newest = newest_taken(op.target);
  if (found.seq <= newest) return ask_event(op, op.phase_ == operation::phase::asking);
  newest = found.seq;
  detail::kept_event kept{found.seq, std::move(found), {}};
  kept.data.text = std::move(kept.what.data);
  op.payload_ = json::encode(kept);
  op.until_ = never;
  op.phase_ = operation::phase::saving;
  save(op, step_status::done, op.payload_);
}

void machine::child_ended(invoke_operation& op, const event& found) {
  auto outcome = json::decode<run_outcome>(found.data);
  op.phase_ = operation::phase::saving;
  if (!outcome) return unreadable(op, detail_of(outcome.error()));
  if (outcome->status == run_status::completed || outcome->status == run_status::partial) {
    op.payload_ = std::move(outcome->result.text);
    return save(op, step_status::done, op.payload_);
  }
  auto why =
    outcome->error.value_or(failure{"internal", "the child ended without result", {}, false});
  why.step = op.name_;
  op.failed_ = std::move(why);
  save(op, step_status::failed, json::encode(*op.failed_));
}

void machine::open_child(invoke_operation& op) {
  const auto* flow = flows_.find(op.workflow);
  failure why{std::string{to_string(errc::bad_input)}, {}, op.name_, false};
  if (flow == nullptr) {
    why.message = "no workflow is called '" + op.workflow + "'";
    return give_up(op, std::move(why));
  }
  if (auto bad = flow->check(op.input)) {
    why.message = "input of " + op.workflow + ": " + detail_of(bad);
    return give_up(op, std::move(why));
  }
  op.child = run_id{out_->make_uuid(out_->now)};
  run_row child;
  child.id = op.child;
  child.workflow = op.workflow;
  child.code_version = flow->version;
  child.tenant = row_.tenant;
  child.installation = row_.installation;
  child.parent = row_.id;
  child.keys = flow->keys(op.input);
  child.correlation = row_.correlation;
  child.traceparent = child_traceparent(row_.traceparent, std::hash<run_id>{}(op.child));
  child.requested_at = out_->now;
  event requested;
  requested.run = op.child;
  requested.kind = event_kind::run_requested;
  requested.subject = to_string(op.child);
  requested.correlation = child.correlation;
  requested.traceparent = child.traceparent;
  requested.at = out_->now;
  requested.data = std::move(op.input);
  out_->ops.push_back(put_event{std::move(requested)});
  out_->ops.push_back(put_run{std::move(child)});
  save(op, step_status::waiting, json::encode(child_ref{op.child.value}));
  op.phase_ = operation::phase::pausing;
}

void machine::settle(operation& op) {
  op.phase_ = operation::phase::settled;
  logical_now_ = std::max(logical_now_, op.at_);
  note_calm();
  if (--unsettled_ == 0 && !asking_) ready_ = true;
}

void machine::save(operation& op, step_status status, std::string payload, timestamp until) {
  if (row_stale_ || row_.status != run_status::running) {
    row_.status = run_status::running;
    row_stale_ = false;
    out_->ops.push_back(put_run{row_});
  }
  op.at_ = out_->now;
  note_gates();
  step_record r;
  r.run = row_.id;
  r.ordinal = op.ordinal_;
  r.attempt = op.attempt_;
  r.kind = op.kind_;
  r.status = status;
  r.at = out_->now;
  r.until = until;
  r.gated = gated_;
  r.name = op.name_;
  r.payload = std::move(payload);
  out_->ops.push_back(put_step{std::move(r)});
  out_->commits.push_back({self_, op.ordinal_});
  if (!asking_) refresh_wake();
}

timestamp machine::earliest_wake() const noexcept {
  timestamp earliest = never;
  for (std::uint32_t i = 0; i < group_size_; ++i) {
    const auto& op = *group_[i];
    if (op.phase_ != operation::phase::pausing && op.phase_ != operation::phase::waiting) continue;
    if (op.until_ != never && (earliest == never || op.until_ < earliest)) earliest = op.until_;
  }
  return earliest;
}

/// The store keeps the earliest wake-up of the run, so that a lost timer is found again (F6).
void machine::refresh_wake() {
  const auto earliest = earliest_wake();
  if (earliest == wake_at_) return;
  wake_at_ = earliest;
  if (!mutated(mutant::timers_in_memory)) out_->ops.push_back(set_wake{row_.id, earliest});
}

/// Time in which everything that is open waits at a gate does not count for `finish` (P12).
void machine::note_gates() {
  bool all = unsettled_ != 0 && group_ != nullptr;
  timestamp since = never;
  for (std::uint32_t i = 0; all && i < group_size_; ++i) {
    const auto& op = *group_[i];
    if (op.phase_ == operation::phase::settled) continue;
    all = op.at_gate_
          && (op.phase_ == operation::phase::waiting || op.phase_ == operation::phase::queueing);
    since = std::max(since, op.at_);
  }
  if (all && gate_since_ == never) {
    gate_since_ = since;
  } else if (!all && gate_since_ != never) {
    gated_ +=
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, (out_->now - gate_since_).count()));
    gate_since_ = never;
    arm_deadline();
  }
}

void machine::note_calm() {
  if (!watch_calm_) return;
  watch_calm_ = false;
  out_->calm.push_back(row_.id);
}

operation* machine::find(std::uint32_t ordinal) const noexcept {
  if (ordinal < group_first_ || ordinal - group_first_ >= group_size_) return nullptr;
  return group_[ordinal - group_first_];
}

std::uint64_t& machine::newest_taken(const wait_target& target) {
  const auto key = hash64(target.subject, hash64(target.kind));
  for (auto& [known, seq] : taken_)
    if (known == key) return seq;
  return taken_.emplace_back(key, 0).second;
}

} // namespace sluice
