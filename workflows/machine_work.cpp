#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/mutant.hpp"
#include "rules/retry.hpp"
#include "workflows/catalog.hpp"
#include "workflows/context.hpp"
#include "workflows/machine.hpp"
#include "workflows/notes.hpp"

namespace sluice {

void machine::begin_work(operation& op) {
  // What the journal calls started is begun, drain or not: else nobody could tell later.
  if (out_->draining && op.phase_ != operation::phase::starting) {
    op.phase_ = operation::phase::held;
    return note_gates();
  }
  if (count_crash_ && !mutated(mutant::crash_not_counted)) {
    op.phase_ = operation::phase::held;
    return count_crash();
  }
  if (!op.repeatable_ && op.phase_ != operation::phase::starting) {
    save(op, step_status::started, "null");
    op.phase_ = operation::phase::starting;
    return;
  }
  op.phase_ = operation::phase::working;
  op.until_ = never;
  note_gates();
  op.start_work(*this, attempt{*this, op.ordinal_, op.name_, op.attempt_});
}

void machine::work_done(operation& op, std::string payload, std::vector<sluice::op> with) {
  if (payload.size() > limits_.result_bytes_max) {
    ++op.attempt_;
    return give_up(op, failure{std::string{to_string(errc::too_large)},
                               "the result is larger than "
                                 + std::to_string(limits_.result_bytes_max) + " bytes",
                               op.name_, false});
  }
  op.payload_ = std::move(payload);
  save(op, step_status::done, op.payload_);
  std::move(with.begin(), with.end(), std::back_inserter(out_->ops));
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
           json::encode(detail::attempt_note{op.name_, attempts, false, error}));
  pause(op, next.at, error.message, false);
}

void machine::give_up(operation& op, failure why) {
  announce(event_kind::step_failed, to_string(row_.id),
           json::encode(detail::attempt_note{op.name_, op.attempt_, true, why}));
  op.failed_ = std::move(why);
  save(op, step_status::failed, json::encode(*op.failed_));
  op.phase_ = operation::phase::saving;
}

void machine::pause(operation& op, timestamp until, std::string_view reason, bool at_gate) {
  op.until_ = until;
  op.at_gate_ = at_gate;
  save(
    op, step_status::waiting,
    json::encode(detail::pause_note{std::string{reason}, at_gate, op.slot_ == slot_use::give_back}),
    until);
  op.phase_ = operation::phase::pausing;
  refresh_wake();
}

} // namespace sluice
