#include "workflows/machine.hpp"

#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/mutant.hpp"
#include "rules/trace.hpp"
#include "workflows/catalog.hpp"
#include "workflows/context.hpp"

#include <algorithm>
#include <cassert>

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
    logical_now_{row_.requested_at}, count_crash_{start.count_crash}, watch_calm_{start.suspect},
    by_person_{start.by_person}, cancel_told_{start.cancel_told},
    cancel_first_{std::move(start.cancel_reason)} {}

machine::~machine() {
  drop_frames();
}

// -- facts --------------------------------------------------------------------

void machine::start(effects& out, run_memo memo, bool more) {
  entry e{*this, out};
  if (memo.corrupt) return request_park("corrupt: " + memo.detail);
  if (!memo.input.empty()) input_ = std::move(memo.input);
  if (cancel_first_ && row_.why == ending::none) {
    row_.reason.clear();
    if (row_.status == run_status::parked) row_.status = run_status::recovering;
    return stop_cancelled(std::move(*cancel_first_), cancel_told_);
  }
  versions_ = std::move(memo.versions);
  memo_ = std::move(memo.steps);
  more_ = more;
  replaying_ = more_ || !memo_.empty();
  if (row_.status == run_status::parked) {
    row_.status = run_status::recovering;
    row_.reason.clear();
  }
  row_stale_ = row_.status != run_status::running;
  if (row_.why == ending::none) return start_body();
  // The workflow's own frames are gone for good: only what `on_failure` did counts.
  std::erase_if(memo_, [](const step_record& r) { return r.ordinal < failure_ordinal; });
  state_ = state::ending;
  start_failure();
}

void machine::feed(effects& out, run_memo memo, bool more) {
  entry e{*this, out};
  loading_ = false;
  if (park_reason_ || (state_ != state::running && state_ != state::ending)) return;
  if (memo.corrupt) return request_park("corrupt: " + memo.detail);
  memo_ = std::move(memo.steps);
  memo_at_ = 0;
  more_ = more;
  match_group();
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
    save(*op, step_status::done, "null");
    op->phase_ = operation::phase::saving;
  }
}

void machine::responded(effects& out, token id, http_response response) {
  entry e{*this, out};
  auto wait = std::find_if(http_.begin(), http_.end(), [&](auto* w) { return w->id == id; });
  if (wait == http_.end()) return;
  auto* who = *wait;
  http_.erase(wait);
  who->response = std::move(response);
  who->waiter.resume();
}

void machine::slot_granted(effects& out) {
  entry e{*this, out};
  slots_away_ = false;
  for (std::uint32_t i = 0; i < group_size_ && !ready_; ++i)
    if (group_[i]->phase_ == operation::phase::queueing) begin_work(*group_[i]);
}

bool machine::cancel(effects& out, std::string reason, bool told) {
  if (state_ != state::running || park_reason_) return false;
  entry e{*this, out};
  stop_cancelled(std::move(reason), told);
  return true;
}

void machine::park(effects& out, std::string reason) {
  entry e{*this, out};
  request_park(std::move(reason));
}

void machine::release(effects& out) {
  entry e{*this, out};
  for (std::uint32_t i = 0; i < group_size_ && !ready_; ++i)
    if (group_[i]->phase_ == operation::phase::held && !crash_saving_) begin_work(*group_[i]);
}

// -- the life of the run --------------------------------------------------------

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
  // A run that merely waits after its replay did nothing that could have killed the process (4.7).
  if (count_crash_ && !crash_saving_ && !replaying_ && !loading_ && group_ != nullptr)
    count_crash_ = false;
}

void machine::start_body() {
  context_ = std::make_unique<context>(*this);
  if (row_.started_at != never) arm_deadline();
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
  cancel_children();
  drop_frames();
  memo_.clear();
  memo_at_ = 0;
  more_ = false;
  replaying_ = false;
  count_crash_ = false;
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
  if (memo_at_ < memo_.size() || more_) {
    std::string next =
      memo_at_ < memo_.size() ? "step '" + memo_[memo_at_].name + "'" : "more steps";
    drop_frames();
    request_park("nondeterministic: the journal goes on with " + next
                 + ", the code has come to its end");
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
  finish(run_status::completed, std::move(output));
}

void machine::conclude_failure() {
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

void machine::cancel_children() {
  for (std::uint32_t i = 0; i < group_size_; ++i) {
    auto& op = *group_[i];
    if (op.kind_ != step_kind::invoke || op.phase_ == operation::phase::settled) continue;
    const auto& child = static_cast<invoke_operation&>(op).child;
    if (child.is_nil()) continue;
    announce(event_kind::run_cancelled, to_string(child),
             json::encode(failure{"cancelled", "its parent ended", {}, false}));
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

void machine::load_more() {
  if (loading_) return;
  loading_ = true;
  std::optional<std::uint32_t> after;
  if (!memo_.empty()) after = memo_.back().ordinal;
  if (state_ == state::ending && (!after || *after < failure_ordinal)) after = failure_ordinal - 1;
  out_->loads.push_back({self_, row_.id, after, false});
}

// -- looking --------------------------------------------------------------------

std::size_t machine::steps_under_way() const noexcept {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < group_size_; ++i) {
    auto phase = group_[i]->phase_;
    if (phase == operation::phase::working || phase == operation::phase::saving
        || phase == operation::phase::starting || phase == operation::phase::pausing)
      ++count;
  }
  return count;
}

run_look machine::look() const {
  run_look seen;
  seen.live = true;
  seen.status = row_.status;
  for (std::uint32_t i = 0; i < group_size_; ++i) {
    const auto& op = *group_[i];
    run_wait w;
    w.step = op.name_;
    w.until = op.until_;
    switch (op.phase_) {
    case operation::phase::settled:
      continue;
    case operation::phase::queueing:
      w.reason = "slot";
      break;
    case operation::phase::loading:
      w.reason = "memo";
      break;
    case operation::phase::held:
      w.reason = "start";
      break;
    case operation::phase::unasked:
    case operation::phase::starting:
    case operation::phase::working:
      w.reason = "work";
      break;
    case operation::phase::saving:
    case operation::phase::pausing:
      w.reason = "journal";
      break;
    case operation::phase::waiting:
    case operation::phase::asking:
      switch (op.kind_) {
      case step_kind::sleep:
        w.reason = "time";
        break;
      case step_kind::wait: {
        const auto& target = static_cast<const wait_operation&>(op).target;
        w.reason = "event " + target.kind + " " + target.subject;
        break;
      }
      case step_kind::invoke:
        w.reason = "child " + to_string(static_cast<const invoke_operation&>(op).child);
        break;
      case step_kind::work:
      case step_kind::send:
      case step_kind::version:
        w.reason = op.at_gate_ ? "gate" : "retry " + std::to_string(op.attempt_);
        break;
      }
      break;
    }
    seen.waits.push_back(std::move(w));
  }
  return seen;
}

// -- for the context --------------------------------------------------------------

std::uint64_t machine::draw(std::string_view what) noexcept {
  std::string_view bytes{reinterpret_cast<const char*>(row_.id.value.bytes.data()), 16};
  return mix64(hash64(bytes, hash64(what)), drawn_++);
}

uuid context::make_uuid() noexcept {
  uuid id;
  for (std::size_t half = 0; half < 2; ++half) {
    auto bits = run_.draw("uuid");
    for (std::size_t i = 0; i < 8; ++i)
      id.bytes[half * 8 + i] = static_cast<std::uint8_t>(bits >> (8 * i));
  }
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x40);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
  return id;
}

std::optional<std::uint32_t> machine::version(std::string_view change, std::uint32_t newest,
                                              std::coroutine_handle<> waiter) {
  for (const auto& known : versions_)
    if (known.name == change)
      return static_cast<std::uint32_t>(json::plain_integer(known.payload).value_or(0));
  if (memo_at_ < memo_.size() || more_) return 0;
  version_ = newest;
  step_record r;
  r.run = row_.id;
  r.ordinal = no_ordinal;
  r.kind = step_kind::version;
  r.at = out_->now;
  r.name = change;
  r.payload = std::to_string(newest);
  versions_.push_back(r);
  out_->ops.push_back(put_step{std::move(r)});
  out_->commits.push_back({self_, commit_of::version});
  waiter_ = waiter;
  return {};
}

void machine::http_start(http_wait& wait, http_request request) {
  wait.id = out_->next_token++;
  request.headers.push_back({"traceparent", child_traceparent(row_.traceparent, wait.id), false});
  http_.push_back(&wait);
  out_->calls.push_back({self_, wait.id, std::move(request)});
}

void machine::http_forget(http_wait& wait) noexcept {
  auto known = std::find(http_.begin(), http_.end(), &wait);
  if (known == http_.end()) return;
  http_.erase(known);
  if (out_ != nullptr) out_->aborts.push_back(wait.id);
}

void machine::recall_start(recall_wait& wait, std::optional<std::uint32_t> after) {
  recall_ = &wait;
  out_->loads.push_back({self_, row_.id, after, true});
}

void machine::unreadable(const operation& op, std::string_view why) {
  request_park("corrupt: the result of step '" + op.name()
               + "' cannot be read by this build: " + std::string{why});
}

std::string attempt::idempotency_key() const {
  const auto& id = run_.row().id.value.bytes;
  std::string bytes{reinterpret_cast<const char*>(id.data()), id.size()};
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(ordinal_ >> shift)));
  bytes.append(step_);
  if (mutated(mutant::key_contains_attempt)) bytes += std::to_string(number_);
  return to_hex(hash64(bytes, 1)) + to_hex(hash64(bytes, 2));
}

} // namespace sluice
