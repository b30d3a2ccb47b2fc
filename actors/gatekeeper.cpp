#include "actors/gatekeeper.hpp"

#include <caf/stateful_actor.hpp>

namespace sluice {

void gatekeeper_state::route(acquire_pass& order) {
  if (!order.from) return;
  order.permit = ++last_permit;
  pass_answered answer;
  answer.id = order.id;
  answer.granted = pass{order.permit, {}, 0};
  self->send(order.from, std::move(answer));
}

gatekeeper_actor::behavior_type
gatekeeper(gatekeeper_actor::stateful_pointer<gatekeeper_state> self, engine_clock clock,
           gates_config config) {
  self->state.clock = clock;
  self->state.config = config;
  return {
    [self](inspect_atom) { return card_of(self, "open"); },
    [self](const core_actors& core) { self->state.core = core; },
    counted(self, [self](acquire_pass& order) { self->state.route(order); }),
    counted(self, [](const request_finished&) {}),
    counted(self,
            [self](const watch_circuit& order) {
              if (order.from) self->send(order.from, circuit_changed{order.service});
            }),
    [](tick_atom) {},
  };
}

} // namespace sluice
