#pragma once

#include "actors/gates.hpp"
#include "actors/observed.hpp"
#include "base/clock.hpp"
#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <memory>
#include <string>

namespace sluice {

/// Finds or makes the gate of each key, tells every question its way, and numbers the permits.
/// Gates that nobody asked for long go away: what they know is in the journal, tokens are fetched
/// again. Circuits stay, for they are few and watched. A gate that dies by itself takes the
/// gatekeeper along, and with it the node (decision 0004).
struct gatekeeper_state {
  explicit gatekeeper_state(gatekeeper_actor::pointer p) : self{p} {}
  /// Gates go with whoever spawned them.
  ~gatekeeper_state();
  static inline const char* name = "gatekeeper";

  template <class Handle>
  struct gate {
    Handle who;
    timestamp used{};
  };
  template <class Handle>
  using gates = std::map<std::string, gate<Handle>>;

  gatekeeper_actor::pointer self;
  actor_activity activity;
  engine_clock clock;
  std::shared_ptr<const gates_config> config;
  core_actors core;
  gates<circuit_breaker_actor> circuits;   ///< by service
  gates<rate_limiter_actor> limiters;      ///< by service, installation, bucket
  gates<token_refresher_actor> refreshers; ///< by connection
  std::uint64_t last_permit = 0;
  bool ticking = false;

  void route(acquire_pass& order);
  void finish(const request_finished& r);
  void watch(const watch_circuit& order);
  void tick();

  circuit_breaker_actor circuit_of(const std::string& service);
  rate_limiter_actor limiter_of(const pass_request& what);
  token_refresher_actor refresher_of(const std::string& connection);
  template <class Handle, class Make>
  Handle find(gates<Handle>& all, const std::string& key, Make make);
  template <class Handle>
  void drop_idle(gates<Handle>& all);
  [[nodiscard]] gate_parts parts() const;
  [[nodiscard]] timestamp now() const { return clock.now(self->clock().now()); }
};

gatekeeper_actor::behavior_type
gatekeeper(gatekeeper_actor::stateful_pointer<gatekeeper_state> self, engine_clock clock,
           gates_config config);

} // namespace sluice
