#pragma once

#include "actors/observed.hpp"
#include "base/clock.hpp"
#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>

namespace sluice {

struct gates_config {};

/// Finds or makes the gate of each key and hands questions and outcomes to it.
struct gatekeeper_state {
  explicit gatekeeper_state(gatekeeper_actor::pointer p) : self{p} {}
  static inline const char* name = "gatekeeper";

  gatekeeper_actor::pointer self;
  actor_activity activity;
  engine_clock clock;
  gates_config config;
  core_actors core;
  std::uint64_t last_permit = 0;

  void route(acquire_pass& order);
};

gatekeeper_actor::behavior_type
gatekeeper(gatekeeper_actor::stateful_pointer<gatekeeper_state> self, engine_clock clock,
           gates_config config);

} // namespace sluice
