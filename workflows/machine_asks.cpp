#include "base/json.hpp"
#include "base/mutant.hpp"
#include "rules/wake.hpp"
#include "workflows/catalog.hpp"
#include "workflows/context.hpp"
#include "workflows/machine.hpp"
#include "workflows/notes.hpp"

#include <algorithm>

namespace sluice {

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
    replay_ended();
    memo_ = {};
    memo_at_ = 0;
    for (std::uint32_t i = 0; i < group_size_ && !park_reason_; ++i)
      if (group_[i]->phase_ == operation::phase::unasked
          || group_[i]->phase_ == operation::phase::loading)
        launch(*group_[i]);
    refresh_wake();
  } else if (unsettled_ != 0) {
    resuming_ = replaying_;
    replay_ended();
    if (!wait_cut_) wake_at_ = earliest_wake(); // the commit that recorded these waits stored it
    refresh_wake();
  }
  note_idle();
  resuming_ = false;
  note_gates();
}

/// From here on everything is new: time counts again.
void machine::replay_ended() {
  if (!replaying_) return;
  replaying_ = false;
  arm_deadline();
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
    if (by_person_) return begin_work(op);
    return request_park("undecided: step '" + op.name_
                        + "' must not be repeated, and it is not known whether it was done;"
                          " resume repeats it, cancel does not");
  case step_status::waiting:
    break;
  }
  op.until_ = cut_wait(row.at, row.until, out_->now);
  wait_cut_ = wait_cut_ || op.until_ != row.until;
  switch (op.kind_) {
  case step_kind::work: {
    auto note = json::decode<detail::pause_note>(row.payload);
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
    auto& send = static_cast<send_operation&>(op);
    for (const auto& draft : send.events)
      if (is_engine_kind(draft.kind))
        return give_up(op, failure{std::string{to_string(errc::bad_input)},
                                   "only the engine sends '" + draft.kind + "'", op.name_, false});
    for (auto& draft : send.events) {
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

void machine::settle(operation& op) {
  if (op.phase_ == operation::phase::saving) note_calm(); // not for a result that was read again
  op.phase_ = operation::phase::settled;
  logical_now_ = std::max(logical_now_, op.at_);
  if (--unsettled_ == 0 && !asking_) ready_ = true;
  note_idle();
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

operation* machine::find(std::uint32_t ordinal) const noexcept {
  if (ordinal < group_first_ || ordinal - group_first_ >= group_size_) return nullptr;
  return group_[ordinal - group_first_];
}

} // namespace sluice
