#include "tests/simulation/verdict.hpp"

#include "base/json.hpp"
#include "tests/simulation/flows.hpp"
#include "workflows/context.hpp"

#include <algorithm>

namespace sluice::simulation {

namespace {

bool shares_slots(const run_row& row) {
  return row.workflow == flow::limited || row.workflow == flow::apart;
}

/// One look at a finished disk.
class judge {
public:
  judge(const memory_disk& disk, const journal_watch& journal, const history& h, findings& found)
    : disk_{disk}, journal_{journal}, history_{h}, found_{found} {
    for (const auto& [id, run] : disk.runs) {
      const auto& first = disk.log.at(run.number);
      auto p = json::decode<program>(std::get<event>(first.what).data);
      if (!p) continue;
      if (!runs_.emplace(p->id, id).second)
        found.report("I2", "program " + p->id + " was run twice");
      programs_.emplace(id, std::move(*p));
    }
    for (const auto& [seq, record] : disk.log) {
      const auto* e = std::get_if<event>(&record.what);
      if (e != nullptr && e->kind == failed_kind) ++told_[e->run];
      if (e != nullptr && e->kind == event_kind::run_ended) outcomes_[e->run] = e->data;
    }
  }

  void check_all() {
    for (const auto& [id, p] : programs_) {
      const auto& row = disk_.runs.at(id).row;
      const bool damaged = history_.damaged.contains(id);
      if (damaged && !is_terminal(row.status)) continue;
      check(p, row);
      check_sends(p, row);
      if (!damaged) check_told(p, row); // its input may be what cannot be read
    }
    check_throttle();
  }

private:
  void check(const program& p, const run_row& row) {
    const auto name = "program " + p.id + " (" + to_string(row.id) + ")";
    switch (row.status) {
    case run_status::completed:
    case run_status::partial:
      return check_completed(p, row, name);
    case run_status::failed:
      return check_failed(p, row, name);
    case run_status::cancelled:
      found_.expect(may_be_cancelled(p, row), "P11", name + " was cancelled by nobody");
      return;
    case run_status::parked:
      found_.report("I17", name + " is parked: " + row.reason);
      return;
    case run_status::pending:
    case run_status::running:
    case run_status::recovering:
      return; // held up by a damaged one, or `is_finished` had said no
    }
  }

  observations seen() const {
    observations o;
    o.wait = [this](const program& p, const act& a) -> std::string {
      const auto run = runs_.find(p.id);
      const auto* r = run == runs_.end() ? nullptr : journal_.result_of(run->second, a.name);
      if (r == nullptr) return "none";
      auto kept = json::decode<std::optional<detail::kept_event>>(r->payload);
      return kept && *kept ? (*kept)->data.text : "none";
    };
    o.cut = [this](const program& p) -> std::optional<std::string> {
      const auto run = runs_.find(p.id);
      if (run == runs_.end()) return {};
      const auto& row = disk_.runs.at(run->second).row;
      if (row.status == run_status::cancelled) return "cancelled";
      if (row.status == run_status::failed && row.error && row.error->code == "timed_out")
        return "timed_out";
      return {};
    };
    return o;
  }

  void check_completed(const program& p, const run_row& row, const std::string& name) {
    const auto end = expected_end(p, seen());
    found_.expect(!end.code, "P3", name + " completed although its step " + end.step + " fails");
    const auto outcome = json::decode<run_outcome>(outcomes_[row.id]);
    const auto expected = json::encode(end.result);
    if (!outcome || outcome->result.text != expected)
      found_.report("P1", name + " gave " + (outcome ? outcome->result.text : "nothing readable")
                            + " instead of " + expected);
  }

  void check_failed(const program& p, const run_row& row, const std::string& name) {
    const auto error = row.error.value_or(failure{});
    if (row.why == ending::time_out) {
      const bool late = history_.jumped || row.ended_at - row.started_at >= guarded_time;
      found_.expect(p.flow == flow::guarded && late, "P12", name + " timed out early");
      return;
    }
    const auto end = expected_end(p, seen());
    found_.expect(end.code && *end.code == error.code && end.step == error.step, "P3",
                  name + " failed with " + error.code + " at '" + error.step + "' (" + error.message
                    + "), expected " + end.code.value_or("success") + " at '" + end.step + "'");
  }

  bool may_be_cancelled(const program& p, const run_row& row) const {
    if (history_.cancels.contains(row.id)) return true;
    if (p.flow == flow::guarded && history_.stops.contains(p.id)) return true;
    const auto parent = disk_.runs.find(row.parent);
    return parent != disk_.runs.end() && parent->second.row.status != run_status::completed;
  }

  void check_sends(const program& p, const run_row& row) {
    const auto check_act = [&](const act& a) {
      if (a.kind != act_kind::send) return;
      const auto sent = journal_.events_of(go_kind, json::quoted(p.id + "/" + a.name));
      const std::uint64_t expected = journal_.result_of(row.id, a.name) != nullptr ? 1 : 0;
      found_.expect(sent == expected, "P5",
                    "event " + a.name + " of program " + p.id + " is there " + std::to_string(sent)
                      + " times, expected " + std::to_string(expected));
    };
    for (const auto& a : p.acts) {
      check_act(a);
      std::ranges::for_each(a.parts, check_act);
    }
  }

  void check_told(const program& p, const run_row& row) {
    if (p.flow != flow::guarded || !is_terminal(row.status)) return;
    const std::uint64_t expected = row.status == run_status::completed ? 0 : 1;
    found_.expect(told_[row.id] == expected, "P13",
                  "on_failure of program " + p.id + " told " + std::to_string(told_[row.id])
                    + " times, expected " + std::to_string(expected));
  }

  /// P10: what the bucket holds, plus what it gains in the time; a crash lets one more go that had
  /// its token and had not begun.
  void check_throttle() {
    if (history_.jumped) return;
    std::vector<timestamp> starts;
    for (const auto& [id, run] : disk_.runs)
      if (run.row.workflow == flow::throttled && run.row.started_at != never
          && run.row.why != ending::cancel)
        starts.push_back(run.row.started_at);
    std::ranges::sort(starts);
    const std::size_t most = 2 * throttled_starts + (history_.restarted_hard ? 1 : 0);
    for (std::size_t i = 0; i + most < starts.size(); ++i)
      found_.expect(starts[i + most] - starts[i] >= throttled_period, "P10",
                    std::to_string(most + 1) + " throttled runs began within "
                      + std::to_string((starts[i + most] - starts[i]).count()) + " ms");
  }

  const memory_disk& disk_;
  const journal_watch& journal_;
  const history& history_;
  findings& found_;
  std::map<std::string, run_id> runs_;
  std::map<run_id, program> programs_;
  std::map<run_id, std::uint64_t> told_;
  std::map<run_id, std::string> outcomes_;
};

} // namespace

std::set<run_id> held_up(const memory_disk& disk, const history& h) {
  std::set<run_id> held;
  for (const auto& id : h.damaged)
    if (disk.is_live(id)) held.insert(id);
  for (bool more = !held.empty(); more;) {
    more = false;
    std::set<std::string> slots;
    for (const auto& id : held)
      if (const auto& row = disk.runs.at(id).row; shares_slots(row)) slots.insert(row.workflow);
    for (const auto& [id, run] : disk.runs) {
      if (is_terminal(run.row.status)) continue;
      const bool waits = slots.contains(run.row.workflow) && run.row.status != run_status::parked;
      if (waits && held.insert(id).second) more = true;
      if (held.contains(id) && disk.is_live(run.row.parent) && held.insert(run.row.parent).second)
        more = true;
    }
  }
  return held;
}

void check_acknowledged(const memory_disk& disk, const history& h, findings& found) {
  for (const auto& [name, run] : h.accepted)
    found.expect(disk.runs.contains(run), "I1",
                 "the accepted run of program " + name + " is not in the store");
  for (const auto& key : h.events)
    found.expect(disk.event_keys.contains("event/" + key), "I1",
                 "the acknowledged event " + key + " is not in the store");
}

bool is_finished(const memory_disk& disk, const history& h) {
  if (h.accepted.size() < h.programs.size()) return false;
  const auto held = held_up(disk, h);
  return std::ranges::all_of(disk.runs, [&](const auto& entry) {
    return is_terminal(entry.second.row.status) || held.contains(entry.first);
  });
}

void check_ends(const memory_disk& disk, const journal_watch& journal, const history& h,
                findings& found) {
  check_acknowledged(disk, h, found);
  judge{disk, journal, h, found}.check_all();
}

} // namespace sluice::simulation
