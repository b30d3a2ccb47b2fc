#include "actors/gatekeeper.hpp"

#include "actors/circuit_breaker.hpp"
#include "actors/rate_limiter.hpp"
#include "actors/token_refresher.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

namespace sluice {

namespace {

constexpr duration sweep{60'000};
constexpr duration full_wait{1000};

std::string installation_prefix(const std::string& service, const std::string& installation) {
  return service + '\0' + installation + '\0';
}

template <class Gates>
void end_all(Gates& all) {
  for (auto& [key, g] : all)
    caf::anon_send_exit(g.who, caf::exit_reason::kill);
}

} // namespace

gatekeeper_state::~gatekeeper_state() {
  end_all(circuits);
  end_all(limiters);
  end_all(refreshers);
}

gate_parts gatekeeper_state::parts() const {
  return {config,           clock,
          core.journal,     core.reader,
          core.http_client, caf::actor_cast<gatekeeper_actor>(self)};
}

/// The gate of that key, new if need be; none when there are too many.
template <class Handle, class Make>
Handle gatekeeper_state::find(gates<Handle>& all, const std::string& key, Make make) {
  auto known = all.find(key);
  if (known == all.end()) {
    if (all.size() >= config->gates_max) return {};
    known = all.emplace(key, gate<Handle>{make(), now()}).first;
    self->monitor(known->second.who);
    self->send(core.inspector, know_actor{known->second.who});
    if (!std::exchange(ticking, true)) self->delayed_send(self, sweep, tick_atom_v);
  }
  known->second.used = now();
  return known->second.who;
}

circuit_breaker_actor gatekeeper_state::circuit_of(const std::string& service) {
  return find(circuits, service, [&] { return self->spawn(circuit_breaker, parts(), service); });
}

rate_limiter_actor gatekeeper_state::limiter_of(const pass_request& what) {
  const auto key = installation_prefix(what.service, what.installation) + what.bucket;
  return find(limiters, key, [&] { return self->spawn(rate_limiter, parts(), what); });
}

token_refresher_actor gatekeeper_state::refresher_of(const std::string& connection) {
  return find(refreshers, connection,
              [&] { return self->spawn(token_refresher, parts(), connection); });
}

void gatekeeper_state::route(acquire_pass& order) {
  if (!order.from) return;
  const auto& what = order.what;
  order.permit = ++last_permit;
  order.probe = false;
  order.circuit = nullptr;
  order.limiter = nullptr;
  order.refresher = nullptr;
  if (!what.service.empty()) order.circuit = circuit_of(what.service);
  if (!what.bucket.empty()) order.limiter = limiter_of(what);
  if (!what.connection.empty()) order.refresher = refresher_of(what.connection);
  const bool complete = (what.service.empty() || order.circuit)
                        && (what.bucket.empty() || order.limiter)
                        && (what.connection.empty() || order.refresher);
  if (!complete)
    return turn_back(self, order, wait_answer(now() + full_wait, "too many gates"), {});
  auto first = order.circuit;
  if (!first) first = order.limiter;
  if (!first) first = order.refresher;
  pass_on(self, order, first);
}

void gatekeeper_state::finish(const request_finished& r) {
  if (!r.service.empty())
    if (auto circuit = circuit_of(r.service)) self->send(circuit, r);
  if (r.bucket.empty()) return;
  if (auto limiter = limiter_of({r.service, r.installation, r.bucket, {}})) self->send(limiter, r);
  if (!r.rate.all_buckets) return;
  // The others hear of the wait, not of the permit.
  auto told = r;
  told.permit = 0;
  told.rate = {};
  told.rate.blocked_until = r.rate.blocked_until;
  const auto prefix = installation_prefix(r.service, r.installation);
  for (auto i = limiters.lower_bound(prefix); i != limiters.end() && i->first.starts_with(prefix);
       ++i)
    if (i->first != prefix + r.bucket) self->send(i->second.who, told);
}

void gatekeeper_state::watch(const watch_circuit& order) {
  if (auto circuit = circuit_of(order.service)) self->send(circuit, order);
}

template <class Handle>
void gatekeeper_state::drop_idle(gates<Handle>& all) {
  const auto time = now();
  std::erase_if(all, [&](const auto& entry) {
    const auto& g = entry.second;
    if (g.used + config->idle > time) return false;
    self->demonitor(g.who.address());
    self->send_exit(g.who, caf::exit_reason::user_shutdown);
    return true;
  });
}

void gatekeeper_state::tick() {
  drop_idle(limiters);
  drop_idle(refreshers);
  ticking = !limiters.empty() || !refreshers.empty();
  if (ticking) self->delayed_send(self, sweep, tick_atom_v);
}

gatekeeper_actor::behavior_type
gatekeeper(gatekeeper_actor::stateful_pointer<gatekeeper_state> self, engine_clock clock,
           gates_config config) {
  self->state.clock = clock;
  self->state.config = std::make_shared<const gates_config>(std::move(config));
  self->set_down_handler([self](const caf::down_msg& down) { self->quit(down.reason); });
  return {
    [self](inspect_atom) {
      const auto& s = self->state;
      return card_of(self, std::to_string(s.circuits.size()) + " circuits, "
                             + std::to_string(s.limiters.size()) + " limits, "
                             + std::to_string(s.refreshers.size()) + " tokens");
    },
    [self](const core_actors& core) { self->state.core = core; },
    counted(self, [self](acquire_pass& order) { self->state.route(order); }),
    counted(self, [self](const request_finished& r) { self->state.finish(r); }),
    counted(self, [self](const watch_circuit& order) { self->state.watch(order); }),
    counted(self, [self](tick_atom) { self->state.tick(); }),
  };
}

} // namespace sluice
