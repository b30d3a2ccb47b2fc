#include "base/json.hpp"
#include "base/mutant.hpp"
#include "workflows/catalog.hpp"
#include "workflows/context.hpp"
#include "workflows/machine.hpp"

#include <algorithm>

namespace sluice {

void machine::go_on() {
  while (ready_ && !park_reason_ && !timed_out_) {
    ready_ = false;
    group_ = nullptr;
    group_size_ = 0;
    std::exchange(waiter_, {}).resume();
  }
  if (park_reason_ && state_ != state::parking && state_ != state::ended) {
    drop_frames();
    row_.status = run_status::parked;
    row_.reason = *park_reason_;
    state_ = state::parking;
    save_row(commit_of::parked);
  } else if (timed_out_ && state_ == state::running) {
    stop(ending::time_out, std::move(*timed_out_));
  } else if (state_ == state::running && body_.done()) {
    conclude();
  } else if (state_ == state::ending && after_failure_.done()) {
    conclude_failure();
  }
  if (count_crash_ && merely_waits()) count_crash_ = false;
}

/// Before anything of it runs again: the count, unless it cannot have killed the process (4.7).
void machine::count_crash() {
  if (crash_saving_) return;
  if (last_straw_)
    return request_park("crashes: the process died " + std::to_string(row_.crashes + 1)
                        + " times while this run was at work");
  crash_saving_ = true;
  ++row_.crashes;
  row_.crash_seq = last_result_seq_;
  row_.status = run_status::recovering;
  save_row(commit_of::crash);
}

/// The journal has a wait that is open, so that is where the workflow stands, whatever of the same
/// group is done. A wait for the next attempt that is over may have been that attempt.
bool machine::merely_waited() const noexcept {
  if (mutated(mutant::crash_not_counted)) return true;
  if (more_) return true; // not known yet: counted before its next work
  return std::any_of(memo_.rbegin(), memo_.rend(), [this](const step_record& r) {
    return r.status == step_status::waiting && (r.kind != step_kind::work || r.until > out_->now);
  });
}

/// After its replay: is all that is open a wait that has not ended?
bool machine::merely_waits() const noexcept {
  if (crash_saving_ || replaying_ || loading_ || group_ == nullptr) return false;
  for (std::uint32_t i = 0; i < group_size_; ++i) {
    const auto& op = *group_[i];
    if (op.kind_ == step_kind::work && op.phase_ == operation::phase::waiting
        && op.until_ <= out_->now)
      return false;
  }
  return true;
}

void machine::set_off() {
  if (state_ == state::ending)
    start_failure();
  else
    start_body();
}

void machine::start_body() {
  context_ = std::make_unique<context>(*this);
  if (!replaying_) arm_deadline();
  body_ = flow_.body(*context_, input_);
  body_.start();
}

void machine::start_failure() {
  next_ordinal_ = failure_ordinal;
  if (!flow_.on_failure) {
    finish(row_.why == ending::cancel ? run_status::cancelled : run_status::failed, "null");
    return;
  }
  context_ = std::make_unique<context>(*this);
  after_failure_ =
    flow_.on_failure(*context_, input_, run_end{row_.why, row_.error.value_or(failure{})});
  after_failure_.start();
}

void machine::stop_cancelled(std::string reason, bool told) {
  if (!told)
    announce(event_kind::run_cancelled, to_string(row_.id),
             json::encode(failure{"cancelled", reason, {}, false}));
  stop(ending::cancel, failure{"cancelled", std::move(reason), {}, false});
}

void machine::stop(ending why, failure error) {
  note_open_children();
  for (const auto& child : std::exchange(open_children_, {}))
    announce(event_kind::run_cancelled, to_string(child),
             json::encode(failure{"cancelled", "its parent ended", {}, false}));
  drop_frames();
  memo_.clear();
  memo_at_ = 0;
  more_ = false;
  loading_ = false;
  replaying_ = false;
  count_crash_ = false;
  cancel_first_.reset();
  timed_out_.reset();
  row_.why = why;
  row_.error = std::move(error);
  if (!flow_.on_failure) {
    finish(why == ending::cancel ? run_status::cancelled : run_status::failed, "null");
    return;
  }
  state_ = state::stopping;
  refresh_wake();
  save_row(commit_of::ending);
}

void machine::conclude() {
  if (auto next = journal_goes_on()) {
    request_park(std::move(*next));
    return go_on();
  }
  std::optional<failure> error;
  std::string output;
  try {
    output = body_.take();
  } catch (const step_failed& failed) {
    error = failed.why();
  } catch (const non_retriable& failed) {
    error = failure{failed.code(), failed.what(), {}, false};
  } catch (const std::exception& failed) {
    error = failure{std::string{to_string(errc::internal)}, failed.what(), {}, false};
  } catch (...) {
    error = failure{
      std::string{to_string(errc::internal)}, "the workflow threw what is no exception", {}, false};
  }
  if (!error && output.size() > limits_.result_bytes_max)
    error = failure{
      std::string{to_string(errc::too_large)}, "the result of the run is too large", {}, false};
  if (error) return stop(ending::failure, std::move(*error));
  const auto status = flow_.status ? flow_.status(output) : run_status::completed;
  finish(status, std::move(output));
}

void machine::conclude_failure() {
  if (auto next = journal_goes_on()) {
    request_park(std::move(*next));
    return go_on();
  }
  try {
    after_failure_.take();
  } catch (const std::exception& failed) {
    if (row_.error) row_.error->message += std::string{"; on_failure: "} + failed.what();
  } catch (...) {
    if (row_.error) row_.error->message += "; on_failure threw what is no exception";
  }
  finish(row_.why == ending::cancel ? run_status::cancelled : run_status::failed, "null");
}

void machine::finish(run_status status, std::string result) {
  drop_frames();
  state_ = state::ended;
  row_.status = status;
  row_.ended_at = out_->now;
  if (row_.started_at == never) row_.started_at = out_->now;
  for (auto& e : parting_)
    out_->ops.push_back(put_event{std::move(e)});
  parting_.clear();
  announce(event_kind::run_ended, to_string(row_.id),
           json::encode(run_outcome{status, json::raw{std::move(result)}, row_.error}));
  refresh_wake();
  save_row(commit_of::end);
}

void machine::save_row(std::uint32_t what) {
  out_->ops.push_back(put_run{row_});
  row_stale_ = false;
  out_->commits.push_back({self_, what});
}

void machine::request_park(std::string reason) {
  if (!park_reason_) park_reason_ = std::move(reason);
}

void machine::drop_frames() noexcept {
  if (out_ != nullptr) {
    for (std::uint32_t i = 0; i < group_size_; ++i)
      if (group_[i]->question_ != 0) out_->forgotten.push_back(group_[i]->question_);
  }
  group_ = nullptr;
  group_size_ = 0;
  waiter_ = {};
  ready_ = false;
  gate_since_ = never;
  body_ = {};
  after_failure_ = {};
}

void machine::note_open_children() {
  for (std::uint32_t i = 0; i < group_size_; ++i) {
    auto& op = *group_[i];
    if (op.kind_ != step_kind::invoke || op.phase_ == operation::phase::settled) continue;
    const auto& child = static_cast<invoke_operation&>(op).child;
    if (!child.is_nil()) open_children_.push_back(child);
  }
  // Those that its replay has not come to.
  for (auto at = memo_at_; at < memo_.size(); ++at) {
    const auto& row = memo_[at];
    if (row.kind != step_kind::invoke || row.status != step_status::waiting) continue;
    if (auto ref = json::decode<child_ref>(row.payload)) open_children_.push_back({ref->child});
  }
}

void machine::announce(std::string kind, std::string subject, std::string data) {
  event e;
  e.run = row_.id;
  e.kind = std::move(kind);
  e.subject = std::move(subject);
  e.correlation = row_.correlation;
  e.traceparent = row_.traceparent;
  e.at = out_->now;
  e.data = std::move(data);
  out_->ops.push_back(put_event{std::move(e)});
}

std::optional<timestamp> machine::deadline() const {
  if (!flow_.finish_timeout || row_.started_at == never || gate_since_ != never) return {};
  return row_.started_at + *flow_.finish_timeout + duration{gated_};
}

void machine::arm_deadline() {
  if (auto end = deadline()) out_->timers.push_back({*end, row_.id});
}

std::optional<std::string> machine::journal_goes_on() const {
  if (memo_at_ == memo_.size() && !more_) return {};
  return "nondeterministic: the journal goes on with "
         + (memo_at_ < memo_.size() ? "step '" + memo_[memo_at_].name + "'" : "more steps")
         + ", the code has come to its end";
}

void machine::load_more() {
  if (loading_) return;
  loading_ = true;
  std::optional<std::uint32_t> after;
  if (!memo_.empty()) after = memo_.back().ordinal;
  if (state_ == state::ending && (!after || *after < failure_ordinal)) after = failure_ordinal - 1;
  out_->loads.push_back({self_, row_.id, after, false});
}

} // namespace sluice
