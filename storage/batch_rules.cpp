#include "storage/batch_rules.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <variant>

namespace sluice {

namespace {

/// A run that this batch begins or ends.
struct changed_run {
  bool requested = false; ///< its `run.requested` event was seen
  bool row = false;
  bool terminal = false;
};

class rule_check {
public:
  rule_check(const batch& b, batch_context& in) : in_{in} {
    for (const auto& o : b.ops) {
      const auto* e = std::get_if<put_event>(&o);
      if (e != nullptr && e->what->kind == event_kind::run_requested) begins_.insert(e->what->run);
    }
  }

  std::optional<std::string> operator()(const put_step& o) { return logged(o.step.run); }
  std::optional<std::string> operator()(const put_marks& o) { return logged(o.run); }

  std::optional<std::string> operator()(const put_event& o) {
    const auto& e = *o.what;
    if (!e.key.empty() && (!keys_.insert(e.key).second || in_.key_used(e.key))) {
      return "idempotency key already used: " + e.key;
    }
    if (e.kind != event_kind::run_requested) {
      if (e.run.is_nil()) return std::nullopt;
      return logged(e.run);
    }
    if (e.run.is_nil()) return "run.requested without a run";
    if (state_of(e.run) != run_state::unknown || changed_[e.run].requested) {
      return "run requested twice: " + to_string(e.run);
    }
    changed_[e.run].requested = true;
    return std::nullopt;
  }

  std::optional<std::string> operator()(const put_run& o) {
    const auto& id = o.row->id;
    const auto before = state_of(id);
    if (before == run_state::unknown && !begins_.contains(id)) {
      return "unknown run: " + to_string(id);
    }
    auto& run = changed_[id];
    if (before == run_state::ended || run.terminal) {
      return "a terminal run never changes: " + to_string(id);
    }
    run.row = true;
    run.terminal = is_terminal(o.row->status);
    return std::nullopt;
  }

  std::optional<std::string> operator()(const set_wake& o) {
    const auto before = state_of(o.run);
    if (before == run_state::unknown && !begins_.contains(o.run)) {
      return "unknown run: " + to_string(o.run);
    }
    if (before == run_state::ended && o.at != never) {
      return "a terminal run never changes: " + to_string(o.run);
    }
    return std::nullopt;
  }

  std::optional<std::string> operator()(const put_row& o) { return row(o.where, o.key); }
  std::optional<std::string> operator()(const del_row& o) { return row(o.where, o.key); }
  std::optional<std::string> operator()(const trim_run&) { return std::nullopt; }
  std::optional<std::string> operator()(const trim_log&) { return std::nullopt; }

  std::optional<std::string> at_end() const {
    for (const auto& run : begins_) {
      auto found = changed_.find(run);
      if (found == changed_.end() || !found->second.row) {
        return "a run begins without its row: " + to_string(run);
      }
    }
    return std::nullopt;
  }

private:
  std::optional<std::string> logged(const run_id& run) {
    switch (state_of(run)) {
    case run_state::live:
      return std::nullopt;
    case run_state::ended:
      return "a terminal run never changes: " + to_string(run);
    case run_state::unknown:
      break;
    }
    auto found = changed_.find(run);
    if (found != changed_.end() && found->second.requested) return std::nullopt;
    return "unknown run: " + to_string(run);
  }

  static std::optional<std::string> row(table where, std::string_view key) {
    if (static_cast<std::size_t>(where) >= table_count) return "no such table";
    if (key.empty()) return "a row without a key";
    if (key.size() > row_key_bytes_max) return "key too long: " + std::string{key.substr(0, 64)};
    return std::nullopt;
  }

  /// Operations of one run mostly stand side by side.
  run_state state_of(const run_id& run) {
    if (!last_ || last_->first != run) last_ = {run, in_.state_of(run)};
    return last_->second;
  }

  batch_context& in_;
  std::unordered_set<run_id> begins_;
  std::unordered_map<run_id, changed_run> changed_;
  std::unordered_set<std::string_view> keys_;
  std::optional<std::pair<run_id, run_state>> last_;
};

} // namespace

std::optional<std::string> broken_rule(const batch& b, batch_context& in) {
  rule_check check{b, in};
  for (const auto& o : b.ops) {
    if (auto problem = std::visit(check, o)) return problem;
  }
  return check.at_end();
}

bool only_removes(const std::vector<op>& ops) noexcept {
  return std::all_of(ops.begin(), ops.end(), [](const op& o) {
    return std::holds_alternative<trim_run>(o) || std::holds_alternative<trim_log>(o)
           || std::holds_alternative<del_row>(o);
  });
}

std::uint64_t positions_of(const batch& b) noexcept {
  return 1 + static_cast<std::uint64_t>(std::count_if(b.ops.begin(), b.ops.end(), is_logged));
}

} // namespace sluice
