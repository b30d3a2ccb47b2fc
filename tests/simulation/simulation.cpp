#include "tests/simulation/simulation.hpp"

#include "tests/simulation/flows.hpp"

#include <algorithm>
#include <utility>

namespace sluice::simulation {

namespace {

constexpr duration safety_time{25'000};
constexpr std::uint64_t safety_messages = 5000;
/// Sleeps, time-outs and queues of all programs, several times over.
constexpr duration liveness_time{std::chrono::hours{1}};
constexpr duration help_interval{2000};
/// The crashes after which the engine parks a run.
constexpr std::uint64_t kills_max = 10;
/// Far above what these few runs can have open at once (I18).
constexpr std::uint64_t mailbox_max = 200;

world_options world_of(const options& o) {
  world_options w;
  w.hosts = o.hosts;
  w.seed = o.seed;
  w.network_delay = o.network_delay;
  return w;
}

} // namespace

simulation::simulation(const options& o, bool with_story)
  : options_{o}, with_story_{with_story}, journal_{found_}, outside_{found_, journal_},
    provider_{found_}, order_{o.seed, 2}, faults_{o.seed, 3}, clients_{o.seed, 4},
    crashes_left_{o.crashes}, world_{flows_, world_of(o)} {
  add_flows(flows_, outside_);
  journal_.now = [this] { return world_.engine_now(); };
  journal_.messages = [this] { return messages_; };
  outside_.now = journal_.now;
  world_.network = [this](const http_request& r) { return provider_.answer(r); };
  world_.disk->on_commit = [this](const memory_disk& d, const batch& b) {
    journal_.committed(d, b);
  };
  report_.seed = o.seed;
  report_.drawn = to_text(o);
}

seed_report simulation::run() {
  plan_clients();
  plan_faults();
  boot();
  safety();
  heal();
  liveness();
  report_.broken = found_.first();
  report_.trace = journal_.trace();
  auto& counts = report_.counts;
  counts.seeds = 1;
  counts.messages = messages_;
  counts.commits = journal_.commits();
  counts.boots = boots_;
  counts.runs = world_.disk->runs.size();
  counts.virtual_time = elapsed();
  if (provider_.faults() != 0) counts.faults["provider"] += provider_.faults();
  if (outside_.kills() != 0) counts.faults["poison"] += outside_.kills();
  return std::move(report_);
}

duration simulation::elapsed() const {
  constexpr timestamp begin = from_millis(1'767'225'600'000);
  return world_.now() - begin - jumps_;
}

void simulation::note(const std::string& what) {
  if (with_story_)
    report_.story.push_back(std::to_string(elapsed().count()) + " ms, message "
                            + std::to_string(messages_) + ": " + what);
}

/// One message of an actor that is drawn, or else time moves on to whatever comes next.
simulation::pace simulation::step() {
  if (outside_.is_dying() && world_.is_up()) {
    if (outside_.kills() > kills_max + clean_ends_)
      found_.report("I17", "one run killed the process " + std::to_string(outside_.kills())
                             + " times and is not parked");
    crash("a run killed the process");
  } else if (world_.is_up() && !world_.death().empty()) {
    if (!std::exchange(death_wanted_, false))
      found_.report("F22", "the node died by itself: " + world_.death());
    crash("died: " + world_.death());
  } else if (boot_failed_) {
    crash("recovery failed");
  } else if (ended_) {
    end_in_order();
  } else if (faulty_ && world_.is_up() && crash_at_ != 0 && messages_ >= crash_at_) {
    --crashes_left_;
    fault("crash");
    crash("drawn");
  }
  while (!plans_.empty() && plans_.begin()->first <= elapsed()) {
    const auto next = plans_.extract(plans_.begin());
    next.mapped()();
  }
  if (world_.run_one(order_.roll())) {
    if (++messages_ % 256 == 0) check_mailboxes();
    return pace::busy;
  }
  if (order_.chance(10)) check_counts();
  duration hop{60'000};
  if (!plans_.empty()) hop = std::min(hop, plans_.begin()->first - elapsed());
  world_.move_on(hop);
  return pace::quiet;
}

void simulation::safety() {
  while (!failed() && elapsed() < safety_time && messages_ < safety_messages)
    step();
}

void simulation::liveness() {
  const auto end = elapsed() + liveness_time;
  at(elapsed(), [this] { help_along(); });
  while (!failed()) {
    if (step() == pace::busy) continue;
    if (is_finished(*world_.disk, history_) && world_.is_up() && recovered_) break;
    if (elapsed() > end) {
      for (const auto& [id, r] : world_.disk->runs)
        if (!is_terminal(r.row.status))
          found_.report("I11", "run " + to_string(id) + " is still "
                                 + std::string{to_string(r.row.status)} + " after an hour "
                                 + r.row.reason);
      found_.report("I11", "a request was not accepted within an hour");
    }
  }
  if (failed()) return;
  world_.settle();
  check_ends(*world_.disk, journal_, history_, found_);
  check_counts();
  check_leftovers();
}

/// What a person would do: publish what is waited for, look at parked runs.
void simulation::help_along() {
  if (world_.is_up() && recovered_) {
    if (history_.events.size() == published_.size())
      for (int n = 0; n < 3; ++n)
        publish(go_kind, "go-" + std::to_string(n), "help-" + std::to_string(published_.size()));
    for (const auto& [id, r] : world_.disk->runs) {
      if (r.row.status != run_status::parked || !helped_.insert(id).second) continue;
      if (r.row.reason.starts_with("undecided") && history_.restarted_hard) {
        note("resumed " + to_string(id));
        world_.ask_with<run_resumed>(world_.core().admission, resume_run{id},
                                     [](const result<run_resumed>&) {});
        helped_.erase(id);
      } else if (r.row.reason.starts_with("crashes") && outside_.is_killer(id)) {
        cancel(id);
      }
    }
  }
  at(elapsed() + help_interval, [this] { help_along(); });
}

/// I27: the admission knows every run that has not ended.
void simulation::check_counts() {
  if (failed() || !world_.is_up() || !recovered_ || ending_ || options_.faults.slow) return;
  if (world_.disk->quota_bytes != 0 || !world_.death().empty()) return;
  const auto counts = world_.count();
  const auto live = static_cast<std::uint64_t>(std::ranges::count_if(
    world_.disk->runs, [](const auto& r) { return !is_terminal(r.second.row.status); }));
  if (counts.pending + counts.hosted + counts.parked != live)
    found_.report("I27", std::to_string(live) + " runs have not ended, the node knows "
                           + std::to_string(counts.pending) + " waiting, "
                           + std::to_string(counts.hosted) + " hosted, "
                           + std::to_string(counts.parked) + " parked");
}

void simulation::check_mailboxes() {
  if (!world_.is_up()) return;
  const auto look = [this](const result<actor_card>& card) {
    if (card && card->mailbox > mailbox_max)
      found_.report("I18", card->kind + " has " + std::to_string(card->mailbox) + " messages");
  };
  const auto& core = world_.core();
  world_.ask_with<actor_card>(core.journal, inspect_atom_v, look);
  world_.ask_with<actor_card>(core.event_log, inspect_atom_v, look);
  world_.ask_with<actor_card>(core.admission, inspect_atom_v, look);
  world_.ask_with<actor_card>(core.timekeeper, inspect_atom_v, look);
}

/// I18: when all runs are gone, nothing waits on their behalf.
void simulation::check_leftovers() {
  if (failed()) return;
  for (const auto& [id, r] : world_.disk->runs)
    if (!is_terminal(r.row.status)) return;
  const auto card = world_.ask<actor_card>(world_.core().event_log, inspect_atom_v);
  found_.expect(card && card->state == "0 live runs, 0 waits for events", "I18",
                "all runs ended, the event log says: " + (card ? card->state : "nothing"));
}

seed_report run_seed(std::uint64_t seed, bool with_story) {
  const auto drawn = draw_options(seed);
  auto first = simulation{drawn, with_story}.run();
  if (first.broken) return first;
  if (drawn.faults.drift) {
    auto still = drawn;
    still.still = true;
    if (simulation{still, false}.run().trace != first.trace)
      first.broken = finding{"I20", "jumps of the wall clock under the node changed what it did"};
  } else if (simulation{drawn, false}.run().trace != first.trace) {
    first.broken = finding{"I28", "the same seed left another trace the second time"};
  }
  return first;
}

} // namespace sluice::simulation
