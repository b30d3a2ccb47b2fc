#pragma once

#include "actors/observed.hpp"
#include "actors/run_host.hpp"
#include "base/clock.hpp"
#include "messages/actors.hpp"
#include "rules/admission.hpp"
#include "rules/bucket.hpp"
#include "rules/crashes.hpp"
#include "workflows/catalog.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sluice {

/// Who may run (P9, P10), and where every live run is. The book of slots is memory, rebuilt at
/// start: runs that had begun take their slots first, then those that waited. Throttles are stored
/// before they let anyone through. A run that may be what killed the last process starts apart from
/// the others (4.7).
struct admission_state {
  explicit admission_state(admission_actor::pointer p) : self{p} {}
  /// Hosts of single runs go with whoever spawned them.
  ~admission_state();
  static inline const char* name = "admission";

  enum class whereabouts : std::uint8_t { throttled, queued, suspected, hosted, parked, resuming };

  struct entry {
    whereabouts where = whereabouts::queued;
    run_host_actor own;     ///< of a run with an actor of its own
    boxed<run_start> start; ///< what the host will be told; after that only the row's id
  };

  /// Runs that wait for their throttle, in arrival order.
  struct throttle {
    bucket_config config;
    bucket state;
    std::deque<run_id> waiting;
    bool saving = false;
    timestamp tick_at{};         ///< when it looks again; `never`: nothing is armed
    std::vector<run_id> granted; ///< let through as soon as `state` is stored
  };

  admission_actor::pointer self;
  actor_activity activity;
  const catalog* flows = nullptr;
  engine_clock clock;
  host_config own_host; ///< for runs with an actor of their own
  crash_config crashes;
  core_actors core;

  std::unordered_map<run_id, std::uint32_t> hosted; ///< run → shared host
  std::unordered_map<run_id, entry> others; ///< everything that is not simply on a shared host
  slot_book book;
  std::map<std::string, throttle> throttles;
  std::unordered_map<token, std::string> saving; ///< commit → throttle
  struct resumption {
    run_start start;
    caf::typed_response_promise<run_resumed> answer;
  };
  std::unordered_map<token, resumption> resuming;
  std::deque<run_id> suspects;
  run_id suspect; ///< the one that runs
  token next_token = 1;
  bool draining = false;
  std::size_t hosts_draining = 0; ///< of those that hold one run each
  caf::typed_response_promise<drained> drain_answer;
  bool recovering = false;
  std::unordered_set<run_id> left_early;       ///< while recovery may still read them as live
  std::optional<std::optional<run_id>> unread; ///< the page after this could not be read
  bool clean = false;                          ///< the last node ended by ordered shutdown
  recovered found;
  caf::typed_response_promise<recovered> recovery;

  std::vector<start_runs> to_hosts; ///< gathered during one handler

  // admission.cpp: in, out and looking
  void admit(run_start start);
  void queue(run_id run, const run_start& start, queue_position position);
  void pump();
  void launch(run_id run);
  void dispatch(run_start start);
  void send_starts();
  void leave(const runs_left& gone);
  void cancel_elsewhere(run_id run, entry& e, std::string reason, bool told);
  caf::result<run_stopped> cancel(cancel_run& order);
  caf::result<run_resumed> resume(const resume_run& order);
  caf::result<run_look> look(const look_at_run& q);
  run_counts count() const;
  caf::result<drained> drain();
  run_host_actor host_of(run_id run);
  static std::vector<slot_claim> claims_of(const workflow& flow, const run_row& row);
  static std::string turn_key(const run_row& row);
  timestamp now() const { return clock.now(self->clock().now()); }

  // admission_throttles.cpp (P10)
  void run_throttle(const std::string& gate);
  void saved(const appended& done);
  void tick();
  static std::string throttle_name(const workflow& flow, const run_row& row);
  static load_table stored_throttles();

  // admission_recovery.cpp: after a restart
  caf::result<recovered> recover_all();
  void load_page(std::optional<run_id> after);
  void take_back(live_run& known);
  void park(run_start start, std::string reason);
  static run_start parked_start(run_row row, std::uint64_t first_seq);
  void next_suspect();
};

admission_actor::behavior_type admission(admission_actor::stateful_pointer<admission_state> self,
                                         const catalog* flows, engine_clock clock,
                                         host_config own_host, crash_config crashes);

} // namespace sluice
