#include "api/api.hpp"

#include "api/actors.hpp"
#include "api/cancel.hpp"
#include "api/errors.hpp"
#include "api/health.hpp"
#include "api/routes.hpp"
#include "api/runs.hpp"
#include "api/stream.hpp"
#include "api/trigger.hpp"
#include "rules/trace.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <array>

namespace sluice::api {

namespace {

constexpr std::array all_routes{
  route{"POST", "/trigger", trigger_backfill},
  route{"POST", "/cancel", cancel_running},
  route{"POST", "/runs", start_run},
  route{"GET", "/runs", list_runs},
  route{"GET", "/runs/{id}", show_run},
  route{"GET", "/runs/{id}/events", stream_run},
  route{"POST", "/runs/{id}/resume", resume_parked_run},
  route{"POST", "/runs/{id}/units/{unit}/retry", retry_unit},
  route{"POST", "/events", take_event},
  route{"GET", "/health/live", health_live},
  route{"GET", "/health/ready", health_ready},
  route{"GET", "/actors", list_actors},
};

constexpr std::size_t correlation_bytes_max = 128;

/// Goes into logs and other systems' headers: letters, digits and a few signs.
bool is_correlation(std::string_view text) {
  constexpr std::string_view signs = "-_.:/";
  return text.size() <= correlation_bytes_max && std::ranges::all_of(text, [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                  || signs.find(c) != signs.npos;
         });
}

} // namespace

void api_state::take(api_request& r) {
  ++handled;
  auto c = std::make_shared<call>();
  c->request = std::move(r.request);
  c->reply = std::move(r.reply);
  c->at = clock.now(self->clock().now());
  const auto given = c->request.header("X-Correlation-Id");
  const bool fits = is_correlation(given);
  c->correlation = given.empty() || !fits ? to_string(ids.next(c->at)) : std::string{given};
  if (auto trace = c->request.header("traceparent"); is_traceparent(trace)) c->traceparent = trace;
  if (open() >= config.open_max) {
    return c->fail({503, "UNAVAILABLE", "the node has too many requests open", true});
  }
  c->ticket = tickets;
  if (!fits) {
    return c->fail(invalid({{"X-Correlation-Id", "up to 128 letters, digits and -_.:/"}}));
  }
  auto target = http::parse_target(c->request.target);
  if (!target) return c->fail(target.error());
  c->target = std::move(*target);
  auto found = find_route(all_routes, c->request.method, c->target.segments);
  if (auto* none = std::get_if<no_route>(&found)) {
    if (none->allow.empty()) return c->fail(none->why);
    return c->fail(none->why, {{"Allow", none->allow}});
  }
  auto& match = std::get<route_match>(found);
  c->params = std::move(match.params);
  match.handle(*this, c);
}

api_actor::behavior_type api(api_actor::stateful_pointer<api_state> self, engine_clock clock,
                             uuid_source ids, core_actors core, api_config config) {
  self->state.clock = clock;
  self->state.ids = ids;
  self->state.core = std::move(core);
  self->state.config = std::move(config);
  return {
    [self](inspect_atom) {
      actor_card card;
      card.kind = self->state.name;
      card.id = self->id();
      card.mailbox = self->mailbox().size();
      card.state = std::to_string(self->state.open()) + " calls open, "
                   + std::to_string(self->state.watches.clients()) + " streams";
      card.handled = self->state.handled;
      return card;
    },
    [self](api_request& r) { self->state.take(r); },
    [self](tick_atom) { poll_watched(self->state); },
  };
}

std::function<void(http::request, http::responder)> handler_for(api_actor to) {
  return [to = std::move(to)](http::request request, http::responder reply) {
    caf::anon_send(to, api_request{std::move(request), std::move(reply)});
  };
}

} // namespace sluice::api
