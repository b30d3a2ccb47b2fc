#include "tests/simulation/outside.hpp"

#include "base/json.hpp"
#include "tests/simulation/flows.hpp"
#include "tests/simulation/journal_watch.hpp"

namespace sluice::simulation {

void outside::begins(const run_row& run, const program& p) {
  const auto [known, fresh] = runs_.emplace(p.id, run.id);
  if (!fresh && known->second != run.id)
    found_.report("P7", "program " + p.id + " has two runs: " + to_string(known->second) + " and "
                          + to_string(run.id));
}

std::uint32_t outside::tries(const run_id& run, const std::string& step, const std::string& key) {
  const std::pair who{run, step};
  const auto [known, fresh] = keys_.emplace(who, key);
  if (!fresh && known->second != key)
    found_.report("I9", "step " + step + " of " + to_string(run)
                          + " has two idempotency keys: " + known->second + " and " + key);
  const auto [owner, unused] = owners_.emplace(key, who);
  if (!unused && owner->second != who)
    found_.report("I9", "steps " + step + " and " + owner->second.second + " share key " + key);
  if (stopped_.contains(run))
    found_.report("P11", "step " + step + " of " + to_string(run)
                           + " begins after the cancel was answered");
  return tries_[who]++;
}

void outside::remember(const run_row& run, const std::string& step, std::string_view what,
                       timestamp logical_now) {
  auto text = std::to_string(to_millis(logical_now)) + " " + std::string{what};
  const auto [known, fresh] = known_.emplace(std::pair{run.id, step}, text);
  if (!fresh && known->second != text)
    found_.report("I2", "a replay of " + to_string(run.id) + " sees '" + text + "' at step " + step
                          + ", it was '" + known->second + "'");
}

void outside::went_on(const run_row& run, const std::string& step, std::string_view result,
                      timestamp logical_now) {
  const auto* record = journal_.result_of(run.id, step);
  if (record == nullptr)
    return found_.report("I1", "run " + to_string(run.id) + " went on after step " + step
                                 + ", whose result is not in the journal");
  if (record->status != step_status::done || record->payload != result)
    return found_.report("I2", "step " + step + " of " + to_string(run.id) + " gave "
                                 + std::string{result} + ", the journal has " + record->payload);
  remember(run, step, result, logical_now);
}

void outside::gave_up(const run_row& run, const std::string& step, std::string_view code,
                      timestamp logical_now) {
  const auto* record = journal_.result_of(run.id, step);
  if (record == nullptr || record->status != step_status::failed)
    return found_.report("I1", "run " + to_string(run.id) + " saw step " + step
                                 + " fail, which is not in the journal");
  remember(run, step, "!" + std::string{code}, logical_now);
}

void outside::waited(const run_row& run, const std::string& step, const std::optional<event>& e,
                     timestamp logical_now) {
  if (journal_.result_of(run.id, step) == nullptr)
    return found_.report("I1", "run " + to_string(run.id) + " went on after wait " + step
                                 + ", whose end is not in the journal");
  remember(run, step, e ? std::to_string(e->seq) + " " + e->data : "none", logical_now);
}

void outside::drew(const run_row& run, const std::string& step, std::uint64_t number) {
  remember(run, "random after " + step, std::to_string(number), never);
}

void outside::dies(const run_id& run) {
  killer_ = run;
  killers_.insert(run);
  ++kills_;
}

outside::busy::busy(outside& o, const program& p) : o_{o}, id_{p.id} {
  if (p.flow != flow::limited) return;
  gate_ = p.flow + "/" + p.key;
  all_ = p.flow;
  for (const auto& [gate, limit] : {std::pair{gate_, limited_per_key}, {all_, limited_in_all}}) {
    auto& inside = o_.at_work_[gate];
    inside.insert(id_);
    std::set<std::string> runs{inside.begin(), inside.end()};
    if (runs.size() > limit)
      o_.found_.report("P9",
                       std::to_string(runs.size()) + " runs at work at once under limit " + gate);
  }
}

outside::busy::~busy() {
  for (const auto& gate : {gate_, all_}) {
    if (gate.empty()) continue;
    auto& inside = o_.at_work_[gate];
    if (auto found = inside.find(id_); found != inside.end()) inside.erase(found);
  }
}

} // namespace sluice::simulation
