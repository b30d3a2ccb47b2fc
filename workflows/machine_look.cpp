#include "workflows/machine.hpp"

namespace sluice {

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
      for (const auto* wait : outside_)
        if (!wait->stalled.empty()) {
          w.reason = "gate: " + wait->stalled;
          w.until = wait->stalled_until;
        }
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

} // namespace sluice
