#pragma once

#include "actors/gatekeeper.hpp"
#include "actors/gateway.hpp"
#include "base/clock.hpp"
#include "messages/actors.hpp"
#include "storage/memory_store.hpp"
#include "workflows/catalog.hpp"
#include "workflows/machine.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What the network answers in a world: called when a request's time has come.
using provider = std::function<http_response(const http_request&)>;

struct world_options {
  std::uint32_t hosts = 2;
  std::uint64_t seed = 1;
  run_limits limits;
  duration rescan{30'000};
  duration network_delay{5};
  duration retention{std::chrono::hours{24 * 30}};
  std::uint32_t crashes_max = 10;
  std::uint64_t live_max = 1'000'000;
  std::uint64_t input_bytes_max = 1 << 20;
  gates_config gates;
  gateway_config gateway;
  bool lose_timers = false; ///< no timer is ever armed: only the rescan finds what is due (F6)
};

/// A whole node in one thread: the real actors on a scheduler that runs only when told, virtual
/// time, a store in memory whose disk survives crashes, and a network that is a function.
class world {
public:
  explicit world(const catalog& flows, world_options options = {});
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  // -- the node --------------------------------------------------------------------

  /// Opens the store and starts the actors; `true` when recovery was answered.
  bool boot();
  /// The same, but nothing has run yet when it returns.
  bool boot_slowly();
  /// Everything that is not committed is gone; whatever its actors still do reaches nobody.
  void crash();
  /// Ordered shutdown; what the supervisor answered.
  node_ended shut_down();
  /// As `boot_slowly`, and `then` is told how recovery ended, whenever that is. False: the
  /// store did not open.
  bool power_on(std::function<void(result<recovered>)> then);
  /// The first half of `shut_down`: `power_off` ends the process when `then` was told.
  void ask_to_end(std::function<void(result<node_ended>)> then);
  void power_off();
  [[nodiscard]] bool is_up() const noexcept { return up_; }
  /// Why an actor of the core died by itself; empty: none did.
  [[nodiscard]] const std::string& death() const noexcept { return death_; }

  // -- time ------------------------------------------------------------------------

  /// Runs all messages. Time stands still.
  void settle();
  /// Runs one message of a randomly chosen actor; false: there is none.
  bool run_one(std::uint64_t draw);
  /// Moves time to the next timer and runs nothing; false: there is none.
  bool next_moment();
  /// The same, but by `at_most` if that is sooner.
  void move_on(duration at_most);
  /// Lets time pass, timer by timer.
  void pass_time(duration total);
  /// Lets time pass until `done` or until `at_most` is over; was it done?
  bool pass_until(const std::function<bool()>& done, duration at_most);
  [[nodiscard]] timestamp now() const;
  /// The time of the node that is up: `now` unless the wall clock jumped under it.
  [[nodiscard]] timestamp engine_now() const { return clock_.now(steady()); }
  /// The wall clock as the next boot will read it: a jump under a node that is down.
  void jump_wall_clock(duration by) { wall_offset_ += by; }

  // -- talking to it -----------------------------------------------------------------

  /// Durably requested, or the error.
  result<run_accepted> start(std::string workflow, std::string input, std::string key = {});
  result<run_accepted> start(run_request request);
  result<event_published> publish(std::string kind, std::string subject, std::string data = "null",
                                  std::string key = {});
  result<run_stopped> cancel(run_id run, std::string reason = "asked to");
  result<run_resumed> resume(run_id run);
  run_look look(run_id run);
  run_counts count();
  std::vector<actor_card> cards();

  /// Asks an actor and runs the world until it answers, time standing still.
  template <class Answer, class Handle, class Question>
  result<Answer> ask(const Handle& who, Question question) {
    auto box = std::make_shared<std::optional<result<Answer>>>();
    ask_with<Answer>(who, std::move(question), [box](result<Answer> r) { *box = std::move(r); });
    settle();
    if (!*box) return make_error(errc::timed_out, "no answer while time stands still");
    return std::move(**box);
  }
  /// Asks and goes on; `then` is called when the answer is there.
  template <class Answer, class Handle, class Question>
  void ask_with(const Handle& who, Question question, std::function<void(result<Answer>)> then) {
    system_.spawn([who, question = std::move(question), then](caf::event_based_actor* self) {
      self->request(who, caf::infinite, question)
        .then([then](Answer& answer) { then(std::move(answer)); },
              [then](caf::error& e) { then(std::move(e)); });
    });
  }
  /// Tells an actor; nothing runs meanwhile.
  template <class Handle, class Message>
  void tell(const Handle& who, Message message) {
    caf::anon_send(who, std::move(message));
  }
  [[nodiscard]] const core_actors& core() const noexcept { return core_; }
  /// For actors of a test's own: they outlive crashes of the node.
  [[nodiscard]] caf::actor_system& system() noexcept { return system_; }

  // -- looking at the disk -------------------------------------------------------------

  [[nodiscard]] std::optional<run_row> row(run_id run) const;
  [[nodiscard]] std::optional<run_outcome> outcome(run_id run) const;
  /// Newest record of each ordinal.
  [[nodiscard]] std::vector<step_record> steps(run_id run) const;
  /// Every record of a step in log order.
  [[nodiscard]] std::vector<step_record> history(run_id run) const;
  [[nodiscard]] std::vector<event> events(std::string_view kind) const;

  std::shared_ptr<memory_disk> disk = std::make_shared<memory_disk>();
  /// The store of the node that is up: its fault switches.
  memory_store* store = nullptr;
  /// So many reads fail once the next boot has read its list of runs.
  std::size_t fail_reads_after_boot = 0;
  provider network;
  /// How long the network takes for a request; empty: as the options say.
  std::function<duration(const http_request&)> latency;
  std::uint64_t requests_sent = 0;
  std::uint64_t requests_aborted = 0;

private:
  struct caf_config : caf::actor_system_config {
    caf_config();
  };
  [[nodiscard]] steady_point steady() const;
  std::optional<steady_point> next_timer() const;

  const catalog& flows_;
  world_options options_;
  caf_config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& scheduler_;
  timestamp epoch_;
  duration wall_offset_{};
  std::uint64_t boots_ = 0;
  engine_clock clock_;
  core_actors core_;
  supervisor_actor supervisor_;
  timekeeper_actor real_timekeeper_; ///< behind one that loses timers
  std::vector<std::unique_ptr<memory_store>> stores_;
  std::shared_ptr<bool> wire_;      ///< false: what this incarnation sends reaches nobody
  std::shared_ptr<bool> recovered_; ///< was the recovery of this boot answered?
  bool up_ = false;
  std::string death_;

  void kill_actors();
};

} // namespace sluice
