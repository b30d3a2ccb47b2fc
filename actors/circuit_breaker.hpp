#pragma once

#include "actors/gates.hpp"
#include "actors/observed.hpp"
#include "rules/circuit.hpp"
#include "rules/turns.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <string>
#include <vector>

namespace sluice {

/// The circuit of one service. Its row is written at every change and read at the first use (H4);
/// nobody passes before it was read. Whoever would have to wait for less than the hold time is
/// kept, by turns of their installations; others are told until when.
struct circuit_breaker_state {
  explicit circuit_breaker_state(circuit_breaker_actor::pointer p) : self{p} {}
  static inline const char* name = "circuit-breaker";

  circuit_breaker_actor::pointer self;
  actor_activity activity;
  gate_parts parts;
  std::string service;
  circuit_config config;
  circuit state;
  bool loaded = false;
  std::vector<request_finished> early; ///< outcomes that came before the row
  turns<held_pass> held;
  std::vector<circuit_sink> watchers;
  timestamp probe_since{};
  timestamp tick_at{};

  void load();
  void acquire(acquire_pass& order);
  void finish(const request_finished& r);
  void watch(const watch_circuit& order);
  void tick();

  circuit_step apply(const circuit_event& e);
  void let_go(acquire_pass& order, const circuit_step& step);
  void pump();
  void save();
  void arm_timers();
  [[nodiscard]] circuit_changed change() const;
  [[nodiscard]] timestamp now() const { return parts.clock.now(self->clock().now()); }
  [[nodiscard]] timestamp open_until() const { return state.opened_at + config.reset_timeout; }
  [[nodiscard]] std::string row_key() const { return gate_row_key("circuit", {service}); }
};

circuit_breaker_actor::behavior_type
circuit_breaker(circuit_breaker_actor::stateful_pointer<circuit_breaker_state> self,
                gate_parts parts, std::string service);

} // namespace sluice
