#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/mutant.hpp"
#include "rules/trace.hpp"
#include "workflows/catalog.hpp"
#include "workflows/context.hpp"
#include "workflows/machine.hpp"

#include <algorithm>

namespace sluice {

/// The wait is in the journal: now wait.
void machine::wait_begins(operation& op) {
  op.phase_ = operation::phase::waiting;
  if (op.until_ != never) out_->timers.push_back({op.until_, row_.id});
  if (op.kind_ == step_kind::wait || op.kind_ == step_kind::invoke) ask_event(op, false);
  note_idle();
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
  // A child may end as failed and have a result that says how.
  if (outcome->status != run_status::cancelled && !outcome->error) {
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

/// Once all that is open waits, the next suspect may start (4.7), and the slots go back if a gate
/// says so (P9). Not before: a step beside the wait is at work under them, and one whose wait is
/// over is about to be.
void machine::note_idle() {
  if (unsettled_ == 0 || group_ == nullptr) return;
  bool due = false;
  bool gives = false;
  for (std::uint32_t i = 0; i < group_size_; ++i) {
    const auto& op = *group_[i];
    if (op.phase_ == operation::phase::settled) continue;
    if (op.phase_ != operation::phase::waiting) return;
    due = due || (op.until_ != never && op.until_ <= out_->now);
    gives = gives || (op.at_gate_ && op.slot_ == slot_use::give_back);
  }
  if (!due) note_calm();
  // After a restart it has its slots again, although it had given them back: others may have them.
  // A suspect keeps them: whom it would wait for may be waiting until it is calm.
  if (!gives || slots_away_ || (due && (!resuming_ || watch_calm_))) return;
  slots_away_ = true;
  out_->slots_returned.push_back(row_.id);
}

void machine::note_calm() {
  if (!watch_calm_) return;
  watch_calm_ = false;
  out_->calm.push_back(row_.id);
}

std::uint64_t& machine::newest_taken(const wait_target& target) {
  const auto key = hash64(target.subject, hash64(target.kind));
  for (auto& [known, seq] : taken_)
    if (known == key) return seq;
  return taken_.emplace_back(key, 0).second;
}

} // namespace sluice
