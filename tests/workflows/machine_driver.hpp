#pragma once

#include "workflows/catalog.hpp"
#include "workflows/machine.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A run without actors: commits at once, jumps to the next timer, and gives every wait an event
/// and every child a result.
class machine_driver {
public:
  explicit machine_driver(const catalog& flows, std::string workflow)
    : flows_{flows}, workflow_{std::move(workflow)} {}

  std::vector<std::vector<op>> commits; ///< in order
  timestamp now = from_millis(1'000'000);

  /// Begins with what the journal holds after its first `known` commits and plays to the end, or
  /// until so many commits have been made.
  void play(std::size_t known, std::size_t stop_after = 10'000) {
    commits.resize(known);
    run_start start;
    start.row.id = run_id{uuid{{7}}};
    start.row.workflow = workflow_;
    start.row.requested_at = from_millis(1'000'000);
    start.row.keys = {};
    start.input = "null";
    run_memo memo = remembered(start.row);
    start.kind = known == 0 ? start_kind::fresh : start_kind::resumed;
    out_ = {};
    out_.now = now;
    out_.make_uuid = [this](timestamp) {
      uuid id;
      id.bytes[15] = static_cast<std::uint8_t>(++children_);
      return id;
    };
    run_ = std::make_unique<machine>(flows_, *flows_.find(workflow_), std::move(start), run_ref{},
                                     limits_);
    run_->load(std::move(memo), false);
    run_->begin(out_);
    while (!over_ && commits.size() < stop_after && carry()) {
    }
    run_.reset();
    over_ = false;
  }

  /// Newest record of each ordinal, as `name kind`.
  [[nodiscard]] std::vector<std::string> asked() const {
    std::map<std::uint32_t, std::string> newest;
    for (const auto& commit : commits)
      for (const auto& o : commit)
        if (const auto* step = std::get_if<put_step>(&o))
          newest[step->step.ordinal] =
            step->step.name + " " + std::string{to_string(step->step.kind)};
    std::vector<std::string> all;
    for (auto& [ordinal, text] : newest)
      all.push_back(std::to_string(ordinal) + " " + text);
    return all;
  }
  /// The row as it was last written.
  [[nodiscard]] std::optional<run_row> row() const {
    std::optional<run_row> last;
    for (const auto& commit : commits)
      for (const auto& o : commit)
        if (const auto* put = std::get_if<put_run>(&o); put && put->row->workflow == workflow_)
          last = *put->row;
    return last;
  }

private:
  run_memo remembered(run_row& row) const {
    run_memo memo;
    std::map<std::uint32_t, step_record> newest;
    for (const auto& commit : commits)
      for (const auto& o : commit) {
        if (const auto* put = std::get_if<put_step>(&o)) {
          if (put->step.ordinal == no_ordinal)
            memo.versions.push_back(put->step);
          else
            newest[put->step.ordinal] = put->step;
        }
        if (const auto* put = std::get_if<put_run>(&o); put && put->row->workflow == workflow_)
          row = *put->row;
      }
    for (auto& [ordinal, step] : newest)
      memo.steps.push_back(std::move(step));
    return memo;
  }

  /// Carries one kind of effect out; false: nothing is left to do.
  bool carry() {
    if (!out_.ops.empty()) {
      commits.push_back(std::exchange(out_.ops, {}));
      for (const auto& done : std::exchange(out_.commits, {}))
        run_->committed(out_, done.what);
      if (!out_.left.empty()) over_ = true;
      return true;
    }
    if (!out_.questions.empty()) {
      for (auto& q : std::exchange(out_.questions, {})) {
        event found;
        found.seq = ++events_;
        found.kind = q.what.kind;
        found.at = now;
        found.data = "1";
        if (q.what.kind == event_kind::run_ended)
          found.data = json::encode(run_outcome{run_status::completed, json::raw{"5"}, {}});
        run_->answered(out_, q.ordinal, q.what.id, found);
      }
      return true;
    }
    if (!out_.timers.empty()) {
      for (const auto& t : std::exchange(out_.timers, {}))
        now = std::max(now, t.at);
      out_.now = now;
      run_->wake(out_);
      return true;
    }
    return false;
  }

  const catalog& flows_;
  std::string workflow_;
  run_limits limits_;
  effects out_;
  std::unique_ptr<machine> run_;
  std::uint64_t events_ = 0;
  std::uint32_t children_ = 0;
  bool over_ = false;
};

} // namespace sluice
