#include "workflows/machine.hpp"

#include "base/json.hpp"
#include "workflows/catalog.hpp"
#include "workflows/context.hpp"

#include <algorithm>

namespace sluice {

/// One fact being taken in: at its end the run goes on as far as it can.
class machine::entry {
public:
  entry(machine& m, effects& out) : m_{m} { m_.out_ = &out; }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;
  ~entry() {
    m_.go_on();
    m_.out_ = nullptr;
  }

private:
  machine& m_;
};

machine::machine(const catalog& flows, const workflow& flow, run_start start, run_ref self,
                 const run_limits& limits)
  : flows_{flows}, flow_{flow}, limits_{limits}, row_{std::move(start.row)},
    input_{std::move(start.input)}, self_{self}, first_seq_{start.first_seq},
    last_result_seq_{start.last_result_seq}, admitted_at_{start.admitted_at},
    logical_now_{row_.requested_at}, count_crash_{start.count_crash}, last_straw_{start.last_straw},
    watch_calm_{start.suspect}, by_person_{start.by_person}, cancel_told_{start.cancel_told} {
  if (start.cancel_reason) cancel_first_ = std::move(*start.cancel_reason);
}

machine::~machine() {
  drop_frames();
}

// -- facts --------------------------------------------------------------------

void machine::load(run_memo memo, bool more) {
  if (memo.corrupt) damage_ = "corrupt: " + memo.detail;
  if (!memo.input.empty()) input_ = std::move(memo.input);
  versions_ = std::move(memo.versions);
  memo_ = std::move(memo.steps);
  more_ = more;
  replaying_ = more_ || !memo_.empty();
}

void machine::begin(effects& out) {
  entry e{*this, out};
  if (state_ != state::running || park_reason_) return;
  if (row_.status == run_status::parked) {
    row_.status = run_status::recovering;
    row_.reason.clear();
  }
  row_stale_ = row_.status != run_status::running;
  if (cancel_first_ && row_.why == ending::none) {
    if (more_ && !damage_) return load_more();
    return stop_cancelled(std::move(*cancel_first_), cancel_told_);
  }
  if (damage_) return request_park(*damage_);
  if (row_.why != ending::none) {
    // The workflow's own frames are gone for good: only what `on_failure` did counts.
    std::erase_if(memo_, [](const step_record& r) { return r.ordinal < failure_ordinal; });
    state_ = state::ending;
  }
  if (count_crash_ && !merely_waited()) return count_crash();
  set_off();
}

void machine::feed(effects& out, run_memo memo, bool more) {
  entry e{*this, out};
  if (!std::exchange(loading_, false)) return; // of a life that is over
  if (park_reason_ || (state_ != state::running && state_ != state::ending)) return;
  if (memo.corrupt && !cancel_first_) return request_park("corrupt: " + memo.detail);
  if (cancel_first_) note_open_children();
  memo_ = std::move(memo.steps);
  memo_at_ = 0;
  more_ = more && !memo.corrupt;
  if (!cancel_first_) return match_group();
  if (more_) return load_more();
  stop_cancelled(std::move(*cancel_first_), cancel_told_);
}

void machine::recalled(effects& out, recalled_memo memo) {
  entry e{*this, out};
  if (recall_ == nullptr) return;
  recall_->memo = std::move(memo);
  std::exchange(recall_, nullptr)->waiter.resume();
}

void machine::committed(effects& out, std::uint32_t what) {
  entry e{*this, out};
  switch (what) {
  case commit_of::version:
    if (waiter_) ready_ = true;
    return;
  case commit_of::crash:
    count_crash_ = false;
    crash_saving_ = false;
    if (state_ != state::running && state_ != state::ending) return;
    if (!context_) return set_off();
    for (std::uint32_t i = 0; i < group_size_ && !ready_; ++i)
      if (group_[i]->phase_ == operation::phase::held) begin_work(*group_[i]);
    return;
  case commit_of::ending:
    if (state_ != state::stopping) return;
    state_ = state::ending;
    out.stopped.push_back(self_);
    start_failure();
    return;
  case commit_of::end:
    out.stopped.push_back(self_);
    out.left.push_back(self_);
    return;
  case commit_of::parked:
    out.left.push_back(self_);
    return;
  default:
    break;
  }
  auto* op = find(what);
  if (op == nullptr) return;
  switch (op->phase_) {
  case operation::phase::starting:
    begin_work(*op);
    break;
  case operation::phase::saving:
    settle(*op);
    break;
  case operation::phase::pausing:
    wait_begins(*op);
    break;
  default:
    break;
  }
}

void machine::wake(effects& out) {
  entry e{*this, out};
  if (state_ != state::running && state_ != state::ending) return;
  if (state_ == state::running && !replaying_) {
    if (auto end = deadline(); end && *end <= out.now) {
      timed_out_ = failure{"timed_out", "the run did not finish within its time-out", {}, false};
      return;
    }
  }
  for (std::uint32_t i = 0; i < group_size_ && !ready_; ++i) {
    auto& op = *group_[i];
    if (op.phase_ == operation::phase::waiting && op.until_ != never && op.until_ <= out.now)
      wait_over(op);
  }
}

void machine::answered(effects& out, std::uint32_t ordinal, token id, std::optional<event> found) {
  entry e{*this, out};
  auto* op = find(ordinal);
  if (op == nullptr || op->question_ != id) return;
  if (op->phase_ != operation::phase::waiting && op->phase_ != operation::phase::asking) return;
  op->question_ = 0;
  if (op->kind_ == step_kind::invoke) {
    if (found) child_ended(static_cast<invoke_operation&>(*op), *found);
    return;
  }
  auto& wait = static_cast<wait_operation&>(*op);
  if (found && (op->until_ == never || found->at <= op->until_)) {
    event_taken(wait, std::move(*found));
  } else if (op->phase_ == operation::phase::asking) {
    op->payload_ = "null";
    op->until_ = never;
    save(*op, step_status::done, op->payload_);
    op->phase_ = operation::phase::saving;
  }
}

void machine::responded(effects& out, token id, outside_answer answer) {
  entry e{*this, out};
  auto wait = std::find_if(outside_.begin(), outside_.end(), [&](auto* w) { return w->id == id; });
  if (wait == outside_.end()) return;
  auto* who = *wait;
  outside_.erase(wait);
  who->answer = std::move(answer);
  who->waiter.resume();
}

void machine::stalled(const delivery_stalled& what) {
  for (auto* wait : outside_) {
    if (wait->id != what.id) continue;
    wait->stalled = what.until == never ? std::string{} : what.reason;
    wait->stalled_until = what.until;
  }
}

void machine::slot_granted(effects& out) {
  entry e{*this, out};
  slots_away_ = false;
  for (std::uint32_t i = 0; i < group_size_ && !ready_; ++i)
    if (group_[i]->phase_ == operation::phase::queueing) begin_work(*group_[i]);
}

bool machine::cancel(effects& out, std::string reason, bool told) {
  if (state_ != state::running || park_reason_ || cancel_first_) return false;
  entry e{*this, out};
  if (more_ && !damage_) {
    // Children that only the rest of the memo knows are cancelled with it.
    note_open_children();
    drop_frames();
    cancel_first_ = std::move(reason);
    cancel_told_ = told;
    load_more();
  } else {
    stop_cancelled(std::move(reason), told);
  }
  return true;
}

bool machine::being_cancelled() const noexcept {
  if (cancel_first_) return true;
  return row_.why == ending::cancel && (state_ == state::stopping || state_ == state::ended);
}

} // namespace sluice
