#pragma once

#include "actors/live_index.hpp"
#include "actors/observed.hpp"
#include "base/boxed.hpp"
#include "base/clock.hpp"
#include "base/uuid.hpp"
#include "messages/actors.hpp"
#include "workflows/catalog.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice {

struct event_log_config {
  std::uint64_t input_bytes_max = 1ULL << 20;
  std::uint64_t live_max = 2'000'000;
};

/// Takes requests for runs and events from outside, once per idempotency key; hears what the
/// journal commits; tells admission of new runs and cancellations, and hosts of the events that
/// their runs wait for. Who waits is memory: after a restart the runs ask again.
struct event_log_state {
  explicit event_log_state(event_log_actor::pointer p) : self{p} {}
  static inline const char* name = "event-log";

  event_log_actor::pointer self;
  actor_activity activity;
  const catalog* flows = nullptr;
  engine_clock clock;
  uuid_source ids;
  event_log_config config;
  core_actors core;
  store_changed room;
  std::uint64_t live_runs = 0;

  // -- requests ------------------------------------------------------------------

  using runs_promise = caf::typed_response_promise<runs_accepted>;
  using event_promise = caf::typed_response_promise<event_published>;

  struct request {
    runs_promise runs; ///< one of the two is pending
    event_promise single;
    runs_accepted answer;
    std::vector<std::string> keys; ///< idempotency keys that are taken until this is durable
  };

  std::unordered_map<token, request> committing;
  /// Keys that are being looked up or committed, and who asked for the same meanwhile.
  std::unordered_map<std::string, std::vector<std::function<void()>>> busy_keys;
  token next_token = 1;

  void request_all(request_runs& what, runs_promise promise);
  void request_keyed(run_request r, runs_promise promise);
  void commit_run(const run_request& r, std::vector<std::string> held, runs_promise promise);
  void publish(publish_event& what, event_promise promise);
  void publish_keyed(event e, event_promise promise);
  void publish_now(event e, event_promise promise);
  error check(const run_request& r) const;
  error no_room() const;
  void open_run(const run_request& r, std::vector<op>& ops, run_accepted& answer);
  void answer_existing(const run_request& r, run_id run, runs_promise promise);
  /// Calls `then` as soon as nobody else holds the key; held until `free_key`.
  void with_key(const std::string& key, std::function<void()> then);
  void free_key(const std::string& key);
  void free_keys(const std::vector<std::string>& keys);
  void committed(const appended& done);
  timestamp now() const { return clock.now(self->clock().now()); }

  // -- runs of the same installation (event_log_conflicts.cpp) -----------------------

  /// A request that holds the place of its installation, until it is judged.
  struct contender {
    run_request r;
    std::vector<std::string> held;
    runs_promise promise;
    std::vector<run_id> others; ///< not judged yet
  };
  using live_reader = std::function<void(const error& failed)>;

  /// Of this process: after a restart the first who asks has it read from the store.
  live_index live;
  std::vector<live_reader> live_waiting;

  void request_placed(run_request r, std::vector<std::string> held, runs_promise promise);
  void judge(contender c);
  void judge_one(contender c, const run_found& other);
  void find_live(const find_live_runs& what, caf::typed_response_promise<live_runs_found> promise);
  /// Calls `then` when `live` is complete, or with why it cannot be.
  void with_live(live_reader then);
  void load_live(std::optional<run_id> after);
  void live_loaded(const error& failed);

  // -- waiting for events ----------------------------------------------------------

  struct watcher {
    event_sink from;
    token id = 0;
    std::uint64_t after = 0;
    bool looking = true; ///< the store has not answered yet
    rare<event> seen;    ///< committed meanwhile
  };

  std::unordered_map<std::string, std::vector<watcher>> watchers; ///< by kind and subject
  std::size_t watching = 0;
  std::vector<ask_events> unread; ///< questions that the store could not answer

  void ask(ask_events& questions);
  void look_up(ask_events asked);
  void looked_up(const event_sink& from, const std::vector<event_question>& questions,
                 found_events& found);
  void forget(const forget_events& what);
  void hear(events_committed& told);
};

event_log_actor::behavior_type event_log(event_log_actor::stateful_pointer<event_log_state> self,
                                         const catalog* flows, engine_clock clock, uuid_source ids,
                                         event_log_config config, std::uint64_t live_runs);

} // namespace sluice
