#include "tests/simulation/simulation.hpp"

#include <algorithm>

namespace sluice::simulation {

void simulation::plan_faults() {
  const auto& f = options_.faults;
  if (f.shutdown) {
    for (auto n = faults_.between(1, 2); n > 0; --n)
      at(faults_.millis(0, 20'000), [this] {
        if (!world_.is_up() || !faulty_ || ending_) return;
        note("ordered shutdown");
        fault("shutdown");
        ending_ = true;
        world_.ask_to_end([this, boot = boots_](const result<node_ended>& r) {
          if (boot != boots_) return;
          ended_ = true;
          if (r && r->drained) ++clean_ends_;
        });
      });
  }
  if (f.full) {
    for (auto n = faults_.between(1, 3); n > 0; --n) {
      const auto from = faults_.millis(0, 15'000);
      at(from, [this, spare = faults_.below(600)] {
        if (!faulty_) return;
        note("the disk is full");
        fault("full");
        world_.disk->quota_bytes = std::max<std::uint64_t>(1, world_.disk->used_bytes + spare);
      });
      at(from + faults_.millis(1, 8000), [this] {
        note("the disk has room");
        world_.disk->quota_bytes = 0;
        if (world_.is_up()) journal_.healed(world_.engine_now());
      });
    }
  }
  if (f.unknown) {
    for (auto n = faults_.between(1, 4); n > 0; --n) {
      const auto from = faults_.millis(0, 12'000);
      at(from, [this] { flaky_ = faulty_; });
      at(from + faults_.millis(1, 5000), [this] { flaky_ = false; });
    }
  }
  if (f.reads) {
    for (auto n = faults_.between(1, 6); n > 0; --n)
      at(faults_.millis(0, 20'000), [this, reads = faults_.between(1, 4)] {
        if (!world_.is_up() || !faulty_) return;
        note("reads fail");
        fault("reads");
        world_.store->failing_reads = reads;
      });
  }
  if (f.death) {
    at(faults_.millis(0, 10'000), [this] { death_wanted_ = faulty_; });
  }
  if (f.drift) {
    for (int n = 0; n < 3; ++n) {
      const duration by = faults_.millis(0, 172'800'000) - duration{86'400'000};
      at(faults_.millis(0, 20'000), [this, by] {
        if (options_.still) return;
        fault("drift");
        jumps_ += by;
        world_.jump_wall_clock(by);
      });
    }
  }
  if (f.crash) crash_at_ = 1 + faults_.below(options_.crash_within);
}

void simulation::boot() {
  ++boots_;
  note("boot");
  outside_.reborn();
  recovered_ = boot_failed_ = ending_ = ended_ = false;
  const bool opened = world_.power_on([this, boot = boots_](const result<recovered>& r) {
    if (boot != boots_) return;
    recovered_ = r.engaged();
    boot_failed_ = !r.engaged();
    if (r) check_acknowledged(*world_.disk, history_, found_);
  });
  found_.expect(opened, "I11", "the store did not open");
  journal_.booted(world_.engine_now());
  arm_store();
}

void simulation::arm_store() {
  if (!faulty_) return;
  auto& store = *world_.store;
  if (options_.faults.slow) {
    store.slow_polls = faults_.below(12);
    if (store.slow_polls != 0) fault("slow");
  }
  if (options_.faults.reads && faults_.chance(30)) {
    fault("reads");
    store.failing_reads = faults_.between(1, 3);
  }
  store.fault = [this](const batch&) {
    if (death_wanted_) {
      fault("death");
      return commit_fault::fail;
    }
    if (!flaky_ || !faults_.chance(40)) return commit_fault::none;
    fault("unknown");
    return faults_.chance(50) ? commit_fault::unknown_written : commit_fault::unknown_absent;
  };
}

void simulation::crash(const std::string& why) {
  note("crash: " + why);
  history_.restarted_hard = true;
  crash_at_ = 0;
  if (options_.faults.crash && crashes_left_ > 0)
    crash_at_ = messages_ + 1 + faults_.below(options_.crash_within);
  world_.crash();
  went_down();
}

void simulation::end_in_order() {
  note("ended in order");
  world_.power_off();
  went_down();
}

/// While the node is down: time passes, the disk rots, somebody sets the clock.
void simulation::went_down() {
  ending_ = ended_ = boot_failed_ = recovered_ = false;
  duration down{};
  if (faulty_) {
    if (options_.faults.corrupt && history_.damaged.empty() && faults_.chance(60)) damage_a_run();
    if (options_.faults.jump && faults_.chance(60)) {
      const duration by = faults_.millis(0, 172'800'000) - duration{86'400'000};
      note("the clock jumps by " + std::to_string(by.count()) + " ms");
      fault("jump");
      jumps_ += by;
      world_.jump_wall_clock(by);
      history_.jumped = true;
      journal_.clock_jumped();
    }
    down = faults_.pick(std::vector<duration>{duration{0}, duration{20}, duration{2000}});
    if (faults_.chance(15)) down = duration{60'000};
  }
  at(elapsed() + down, [this] { boot(); });
}

/// A record or the row of one run that has not ended. Only what nobody else reads: an event that is
/// lost to others would be a loss that no one could be blamed for.
void simulation::damage_a_run() {
  std::vector<run_id> live;
  for (const auto& [id, r] : world_.disk->runs)
    if (!is_terminal(r.row.status) && r.row.status != run_status::parked) live.push_back(id);
  if (live.empty()) return;
  const auto id = faults_.pick(live);
  const auto& newest = world_.disk->log.at(*world_.disk->runs.at(id).seqs.rbegin()).what;
  const auto* e = std::get_if<event>(&newest);
  note("damaged " + to_string(id));
  fault("corrupt");
  history_.damaged.insert(id);
  if (faults_.chance(50) && (e == nullptr || e->kind == event_kind::run_requested))
    world_.disk->corrupt_record(id);
  else
    world_.disk->corrupt_row(id);
}

void simulation::heal() {
  note("healed");
  faulty_ = flaky_ = death_wanted_ = false;
  world_.disk->quota_bytes = 0;
  if (!world_.is_up()) return;
  journal_.healed(world_.engine_now());
  world_.store->fault = nullptr;
  world_.store->slow_polls = 0;
  world_.store->failing_reads = 0;
}

} // namespace sluice::simulation
