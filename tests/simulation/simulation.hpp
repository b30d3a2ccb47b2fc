#pragma once

#include "tests/simulation/journal_watch.hpp"
#include "tests/simulation/options.hpp"
#include "tests/simulation/outside.hpp"
#include "tests/simulation/provider.hpp"
#include "tests/simulation/report.hpp"
#include "tests/simulation/verdict.hpp"
#include "tests/support/world.hpp"
#include "workflows/catalog.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace sluice::simulation {

/// One seed from its first message to the verdict. Safety: faults on, invariants after every commit
/// and every recovery. Liveness: everything healed, all runs must come to an end.
class simulation {
public:
  simulation(const options& o, bool with_story);
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  seed_report run();

private:
  enum class pace : std::uint8_t { busy, quiet };

  // simulation.cpp: time, phases, checks
  pace step();
  void safety();
  void liveness();
  void help_along();
  void check_counts();
  void check_mailboxes();
  void check_leftovers();
  [[nodiscard]] bool failed() const { return found_.first().has_value(); }
  [[nodiscard]] duration elapsed() const;
  void at(duration when, std::function<void()> what) { plans_.emplace(when, std::move(what)); }
  void note(const std::string& what);
  void fault(const char* kind) { ++report_.counts.faults[kind]; }

  // faults.cpp: what is done to the node and to its store
  void plan_faults();
  void boot();
  void arm_store();
  void crash(const std::string& why);
  void end_in_order();
  void went_down();
  void damage_a_run();
  void heal();

  // clients.cpp: what people and programs outside ask for
  void plan_clients();
  void request(std::size_t index);
  void publish(const std::string& kind, const std::string& subject, const std::string& key);
  void cancel(const run_id& run);
  void cancel_any();

  options options_;
  bool with_story_;
  findings found_;
  journal_watch journal_;
  outside outside_;
  scripted_provider provider_;
  history history_;
  seed_report report_;

  dice order_;  ///< whose message is next
  dice faults_; ///< what goes wrong, and when
  dice clients_;

  std::multimap<duration, std::function<void()>> plans_; ///< by virtual time since the beginning
  std::uint64_t messages_ = 0;
  std::uint64_t crash_at_ = 0; ///< message; 0: none is planned
  std::uint32_t crashes_left_ = 0;
  std::uint32_t clean_ends_ = 0;
  std::uint64_t boots_ = 0;
  std::set<std::string> published_; ///< keys
  duration jumps_{};
  std::set<run_id> helped_;
  bool faulty_ = true; ///< the safety phase
  bool recovered_ = false;
  bool boot_failed_ = false;
  bool ending_ = false;
  bool ended_ = false;
  bool death_wanted_ = false;
  bool flaky_ = false; ///< commits have unknown outcomes just now

  catalog flows_;
  world world_; ///< last: it goes first
};

/// Runs one seed twice (I28); if its wall clock jumps under the running node, the second time
/// without the jumps (I20).
[[nodiscard]] seed_report run_seed(std::uint64_t seed, bool with_story = false);

} // namespace sluice::simulation
