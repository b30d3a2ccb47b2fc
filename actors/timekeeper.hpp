#pragma once

#include "actors/observed.hpp"
#include "base/clock.hpp"
#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <queue>
#include <unordered_map>
#include <vector>

namespace sluice {

/// Wakes hosts when something of their runs is due: never early, at most a tick late (P4, I12). Its
/// heap is only a cache: waits and wake-ups are in the journal, and every `rescan` looks there for
/// what memory forgot (F6).
struct timekeeper_state {
  explicit timekeeper_state(timekeeper_actor::pointer p) : self{p} {}
  static inline const char* name = "timekeeper";

  struct alarm {
    timestamp at{};
    run_id run;
    std::uint32_t sink = 0;
    friend bool operator>(const alarm& a, const alarm& b) { return a.at > b.at; }
  };

  timekeeper_actor::pointer self;
  actor_activity activity;
  engine_clock clock;
  duration rescan_interval{30'000};
  core_actors core;
  /// Whom timers wake. A place is free again when its last timer went off: hosts of a single run
  /// come and go.
  struct sink {
    wake_sink who;
    std::size_t alarms = 0;
  };
  std::vector<sink> sinks;
  std::vector<std::uint32_t> vacant;
  std::unordered_map<caf::actor_id, std::uint32_t> places;
  std::priority_queue<alarm, std::vector<alarm>, std::greater<>> alarms;
  timestamp armed_for = never;

  void arm(arm_timers& order);
  std::uint32_t place_of(const wake_sink& who);
  void tick();
  void set_tick();
  void rescan();
};

timekeeper_actor::behavior_type
timekeeper(timekeeper_actor::stateful_pointer<timekeeper_state> self, engine_clock clock,
           duration rescan_interval);

} // namespace sluice
