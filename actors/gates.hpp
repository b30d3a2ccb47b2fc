#pragma once

#include "base/clock.hpp"
#include "base/secret.hpp"
#include "messages/actors.hpp"
#include "rules/circuit.hpp"
#include "rules/window.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

/// What the three gates of a request have in common.
namespace sluice {

struct gateway_access {
  std::string url;
  secret api_key;
};

/// Names that stand in the maps have settings of their own (H5).
struct gates_config {
  circuit_config circuit{};
  std::map<std::string, circuit_config> circuits{};
  window_config rate{};
  std::map<std::string, window_config> rates{};
  gateway_access gateway{};
  duration hold{2000};             ///< a gate keeps nobody longer without an answer
  duration probe_timeout{120'000}; ///< a probe that never came back counts as failed
  duration permit_lifetime{600'000};
  duration idle{900'000}; ///< gates that nobody asked for so long go away
  std::size_t gates_max = 20'000;
  std::size_t held_max = 10'000; ///< at one gate
};

/// What a gate is made with.
struct gate_parts {
  std::shared_ptr<const gates_config> config;
  engine_clock clock;
  journal_actor journal;
  reader_actor reader;
  http_client_actor http_client;
  gatekeeper_actor gatekeeper;
};

/// Somebody that a gate holds back for a moment.
struct held_pass {
  acquire_pass order;
  timestamp deadline{};
};

/// The service whose circuit the token refresher asks.
inline constexpr const char* gateway_service = "gateway";

/// The key of a gate's row: its kind, then names of any length.
[[nodiscard]] std::string gate_row_key(std::string_view kind,
                                       std::initializer_list<std::string_view> names);

/// Arms one tick for the earliest of what was asked for; `tick_at` is the gate's own.
template <class Self>
void arm_tick(Self self, const engine_clock& clock, timestamp& tick_at, timestamp at) {
  if (at == never || (tick_at != never && tick_at <= at)) return;
  tick_at = at;
  const auto wait = std::max(clock.when(at) - self->clock().now(), steady_point::duration{});
  self->delayed_send(self, wait, tick_atom_v);
}

/// The last gate answers.
template <class Self>
void grant(Self self, const acquire_pass& order, secret access_token = {},
           std::uint64_t generation = 0) {
  pass_answered answer;
  answer.id = order.id;
  answer.granted = pass{order.permit, std::move(access_token), generation, order.probe};
  self->send(order.from, std::move(answer));
}

/// On to the next gate, or to whoever asked. By value: `next` is a part of `order`, which moves.
template <class Self>
void pass_on(Self self, acquire_pass& order, gate_actor next) {
  if (next)
    self->send(next, std::move(order));
  else
    grant(self, order);
}

/// No pass: the gates before this one take probe and permit back.
template <class Self>
void turn_back(Self self, const acquire_pass& order, pass_answered answer,
               std::initializer_list<gate_actor> before) {
  for (const auto& gate : before)
    if (gate) self->send(gate, finished(order.what, order.permit, pass_outcome::not_sent));
  answer.id = order.id;
  self->send(order.from, std::move(answer));
}

[[nodiscard]] inline pass_answered wait_answer(timestamp until, std::string reason) {
  pass_answered answer;
  answer.wait_until = until;
  answer.reason = std::move(reason);
  return answer;
}

} // namespace sluice
