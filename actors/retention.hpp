#pragma once

#include "actors/observed.hpp"
#include "base/clock.hpp"
#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <optional>

namespace sluice {

struct retention_config {
  duration keep{std::chrono::hours{24 * 30}}; ///< ended runs are kept this long
  duration interval{60'000};
  std::uint32_t slice = 1000; ///< log records per commit
};

/// Removes runs that ended long ago, with their steps and events, in slices between the commits of
/// others, so that the journal's file does not grow without bound (J10).
struct retention_state {
  explicit retention_state(retention_actor::pointer p) : self{p} {}
  static inline const char* name = "retention";

  retention_actor::pointer self;
  actor_activity activity;
  engine_clock clock;
  retention_config config;
  core_actors core;
  std::uint64_t removed = 0;
  bool at_work = false;
  std::optional<run_id> next; ///< where the next slice of rows begins; nothing: at the newest

  void look();
  void remove(const run_page& page);
};

retention_actor::behavior_type retention(retention_actor::stateful_pointer<retention_state> self,
                                         engine_clock clock, retention_config config);

} // namespace sluice
