#include "tests/support/world.hpp"

#include "actors/admission.hpp"
#include "actors/event_log.hpp"
#include "actors/gatekeeper.hpp"
#include "actors/gateway.hpp"
#include "actors/inspector.hpp"
#include "actors/journal.hpp"
#include "actors/reader.hpp"
#include "actors/retention.hpp"
#include "actors/run_host.hpp"
#include "actors/supervisor.hpp"
#include "actors/timekeeper.hpp"
#include "base/hash.hpp"
#include "tests/support/network.hpp"

#include <caf/detail/test_actor_clock.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

namespace {

/// 2026-01-01T00:00:00Z.
constexpr timestamp world_begin = from_millis(1'767'225'600'000);

/// The timers of the test scheduler, which has no word for "when is the next one".
struct clock_access : caf::detail::simple_actor_clock {
  static auto schedule() { return &clock_access::schedule_; }
};

struct forgetful_state {
  explicit forgetful_state(timekeeper_actor::pointer) {}
  static inline const char* name = "timekeeper";
  actor_activity activity;
};

/// A timekeeper that forgets every timer and leaves the rescan to the real one.
timekeeper_actor::behavior_type
forgetful_timekeeper(timekeeper_actor::stateful_pointer<forgetful_state> self,
                     timekeeper_actor real) {
  return {
    [self](inspect_atom) { return card_of(self, "forgetful"); },
    [](const arm_timers&) {},
    [self, real](core_actors& core) { self->send(real, std::move(core)); },
    [](tick_atom) {},
    [](rescan_atom) {},
  };
}

template <class Handle>
void kill(const Handle& who) {
  if (who) caf::anon_send_exit(who, caf::exit_reason::kill);
}

} // namespace

world::caf_config::caf_config() {
  add_message_types<caf::id_block::sluice>();
  set("scheduler.policy", caf::atom("testing"));
}

world::world(const catalog& flows, world_options options)
  : flows_{flows}, options_{options}, system_{config_},
    scheduler_{dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())},
    epoch_{world_begin} {}

world::~world() {
  if (up_) crash();
  // Timers that are still armed hold on to their actors.
  while (scheduler_.has_pending_timeout() || scheduler_.has_job()) {
    scheduler_.trigger_timeouts();
    scheduler_.run();
  }
}

steady_point world::steady() const {
  return scheduler_.clock().current_time;
}

timestamp world::now() const {
  return epoch_ + std::chrono::floor<duration>(steady().time_since_epoch()) + wall_offset_;
}

bool world::boot() {
  if (!boot_slowly()) return false;
  // Reads that fail after the boot hit the memos of the runs that it found.
  while (fail_reads_after_boot != 0 && !*recovered_ && run_one(0)) {
  }
  store->failing_reads = std::exchange(fail_reads_after_boot, 0);
  settle();
  return *recovered_;
}

bool world::boot_slowly() {
  recovered_ = std::make_shared<bool>(false);
  return power_on([done = recovered_](const result<recovered>& r) { *done = r.engaged(); });
}

bool world::power_on(std::function<void(result<recovered>)> then) {
  ++boots_;
  auto opened = std::make_unique<memory_store>(disk);
  auto grant = opened->open();
  if (!grant) return false;
  store = opened.get();
  stores_.push_back(std::move(opened));
  clock_ = engine_clock{now(), steady()};
  wire_ = std::make_shared<bool>(true);
  death_.clear();
  auto ids = [this, n = std::uint64_t{0}]() mutable {
    return uuid_source{mix64(options_.seed, boots_ * 100 + n++)};
  };
  core_ = {};
  host_config host{&flows_, clock_, ids(), options_.limits, {}};
  core_.journal = system_.spawn(journal, store, *grant, clock_, ids(), journal_config{});
  core_.reader = system_.spawn(reader, store);
  core_.event_log = system_.spawn(event_log, &flows_, clock_, ids(),
                                  event_log_config{options_.input_bytes_max, options_.live_max},
                                  store->stats().live_runs);
  core_.admission =
    system_.spawn(admission, &flows_, clock_, host, crash_config{3, options_.crashes_max});
  core_.timekeeper = system_.spawn(timekeeper, clock_, options_.rescan);
  if (options_.lose_timers) {
    real_timekeeper_ = core_.timekeeper;
    core_.timekeeper = system_.spawn(forgetful_timekeeper, real_timekeeper_);
  }
  core_.http_client =
    system_.spawn(network_actor, network_wiring{this, wire_, options_.network_delay});
  core_.inspector = system_.spawn(inspector);
  core_.retention =
    system_.spawn(retention, clock_, retention_config{options_.retention, duration{60'000}, 1000});
  core_.gatekeeper = system_.spawn(gatekeeper, clock_, options_.gates);
  core_.gateway = system_.spawn(gateway, clock_, options_.gateway);
  for (std::uint32_t i = 0; i < options_.hosts; ++i) {
    host.ids = ids();
    host.label = "host " + std::to_string(i + 1);
    core_.hosts.push_back(system_.spawn(run_host, host));
  }
  supervisor_ = system_.spawn(supervisor, [this, boot = boots_](std::string why) {
    if (boot == boots_ && up_) death_ = std::move(why);
  });
  up_ = true;
  caf::anon_send(supervisor_, core_);
  caf::anon_send(core_.event_log, core_);
  caf::anon_send(core_.admission, core_);
  caf::anon_send(core_.timekeeper, core_);
  caf::anon_send(core_.retention, core_);
  caf::anon_send(core_.gatekeeper, core_);
  caf::anon_send(core_.gateway, core_);
  for (const auto& h : core_.hosts)
    caf::anon_send(h, core_);
  caf::anon_send(core_.journal, observe_journal{caf::actor_cast<event_observer>(core_.event_log)});
  auto known = [&](const auto& who) { caf::anon_send(core_.inspector, know_actor{who}); };
  known(core_.journal);
  known(core_.reader);
  known(core_.event_log);
  known(core_.admission);
  known(core_.timekeeper);
  known(core_.http_client);
  known(core_.inspector);
  known(core_.retention);
  known(core_.gatekeeper);
  known(core_.gateway);
  known(supervisor_);
  for (const auto& h : core_.hosts)
    known(h);
  ask_with<recovered>(core_.admission, recover{grant->clean}, std::move(then));
  return true;
}

void world::kill_actors() {
  kill(supervisor_);
  kill(core_.journal);
  kill(core_.reader);
  kill(core_.event_log);
  kill(core_.admission);
  kill(core_.timekeeper);
  kill(real_timekeeper_);
  kill(core_.http_client);
  kill(core_.inspector);
  kill(core_.retention);
  kill(core_.gatekeeper);
  kill(core_.gateway);
  for (const auto& h : core_.hosts)
    kill(h);
  core_ = {};
  supervisor_ = nullptr;
  real_timekeeper_ = nullptr;
}

void world::power_off() {
  up_ = false;
  *wire_ = false;
  store = nullptr;
  kill_actors();
  settle();
}

void world::crash() {
  // Whoever opens the disk next fences what the dead node would still write.
  memory_store fence{disk};
  auto grant = fence.open();
  power_off();
}

void world::ask_to_end(std::function<void(result<node_ended>)> then) {
  ask_with<node_ended>(supervisor_, end_node{duration{10'000}}, std::move(then));
}

node_ended world::shut_down() {
  std::optional<result<node_ended>> answer;
  ask_to_end([&](result<node_ended> r) { answer = std::move(r); });
  pass_until([&] { return answer.has_value(); }, duration{60'000});
  power_off();
  return answer && *answer ? **answer : node_ended{false};
}

// -- time -----------------------------------------------------------------------------

void world::settle() {
  scheduler_.run();
}

bool world::run_one(std::uint64_t draw) {
  auto& jobs = scheduler_.jobs;
  if (jobs.empty()) return false;
  std::swap(jobs.front(), jobs[draw % jobs.size()]);
  scheduler_.run_once();
  return true;
}

std::optional<steady_point> world::next_timer() const {
  const auto& timers = scheduler_.clock().*clock_access::schedule();
  if (timers.empty()) return {};
  return timers.begin()->first;
}

bool world::next_moment() {
  auto next = next_timer();
  if (!next) return false;
  scheduler_.advance_time(std::max(*next - steady(), steady_point::duration{}));
  return true;
}

void world::move_on(duration at_most) {
  const auto next = next_timer();
  steady_point::duration hop = at_most;
  if (next) hop = std::clamp(*next - steady(), steady_point::duration{}, hop);
  scheduler_.advance_time(hop);
}

void world::pass_time(duration total) {
  pass_until([] { return false; }, total);
}

bool world::pass_until(const std::function<bool()>& done, duration at_most) {
  const auto end = steady() + at_most;
  settle();
  while (!done()) {
    auto next = next_timer();
    if (!next || *next > end) {
      if (end > steady()) scheduler_.advance_time(end - steady());
      settle();
      return done();
    }
    scheduler_.advance_time(std::max(*next - steady(), steady_point::duration{}));
    settle();
  }
  return true;
}

// -- talking to it ----------------------------------------------------------------------

result<run_accepted> world::start(run_request request) {
  auto answer = ask<runs_accepted>(core_.event_log, request_runs{{std::move(request)}});
  if (!answer) return std::move(answer.error());
  return answer->runs.front();
}

result<run_accepted> world::start(std::string workflow, std::string input, std::string key) {
  run_request request;
  request.workflow = std::move(workflow);
  request.input = std::move(input);
  request.idempotency_key = std::move(key);
  return start(std::move(request));
}

result<event_published> world::publish(std::string kind, std::string subject, std::string data,
                                       std::string key) {
  event e;
  e.kind = std::move(kind);
  e.subject = std::move(subject);
  e.data = std::move(data);
  e.key = std::move(key);
  return ask<event_published>(core_.event_log, publish_event{std::move(e)});
}

result<run_stopped> world::cancel(run_id run, std::string reason) {
  return ask<run_stopped>(core_.admission, cancel_run{run, std::move(reason)});
}

result<run_resumed> world::resume(run_id run) {
  return ask<run_resumed>(core_.admission, resume_run{run});
}

run_look world::look(run_id run) {
  auto seen = ask<run_look>(core_.admission, look_at_run{run});
  return seen ? std::move(*seen) : run_look{};
}

run_counts world::count() {
  auto counts = ask<run_counts>(core_.admission, count_runs{});
  return counts ? *counts : run_counts{};
}

std::vector<actor_card> world::cards() {
  auto all = ask<std::vector<actor_card>>(core_.inspector, list_atom_v);
  return all ? std::move(*all) : std::vector<actor_card>{};
}

// -- looking at the disk ------------------------------------------------------------------

std::optional<run_row> world::row(run_id run) const {
  auto known = disk->runs.find(run);
  if (known == disk->runs.end()) return {};
  return known->second.row;
}

std::optional<run_outcome> world::outcome(run_id run) const {
  for (const auto& e : events(event_kind::run_ended)) {
    if (e.run != run) continue;
    auto read = json::decode<run_outcome>(e.data);
    if (read) return std::move(*read);
  }
  return {};
}

std::vector<step_record> world::history(run_id run) const {
  std::vector<step_record> all;
  for (const auto& [seq, record] : disk->log)
    if (const auto* step = std::get_if<step_record>(&record.what); step && step->run == run)
      all.push_back(*step);
  return all;
}

std::vector<step_record> world::steps(run_id run) const {
  std::map<std::uint32_t, step_record> newest;
  for (auto& step : history(run))
    newest[step.ordinal] = step;
  std::vector<step_record> all;
  for (auto& [ordinal, step] : newest)
    all.push_back(std::move(step));
  return all;
}

std::vector<event> world::events(std::string_view kind) const {
  std::vector<event> all;
  for (const auto& [seq, record] : disk->log)
    if (const auto* e = std::get_if<event>(&record.what); e && e->kind == kind) all.push_back(*e);
  return all;
}

} // namespace sluice
