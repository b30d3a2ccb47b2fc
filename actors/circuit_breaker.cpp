#include "actors/circuit_breaker.hpp"

#include "base/json.hpp"
#include "base/log.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

namespace {

using what = circuit_event::what;

/// How long those wait that came too late to be held while a probe is under way.
constexpr duration probe_wait{5000};
constexpr duration load_retry{1000};

std::string_view in_words(circuit_status s) {
  switch (s) {
  case circuit_status::closed:
    return "closed";
  case circuit_status::open:
    return "open";
  case circuit_status::half_open:
    return "half open";
  }
  return {};
}

what event_of(pass_outcome outcome) {
  switch (outcome) {
  case pass_outcome::failure:
    return what::failure;
  case pass_outcome::not_sent:
  case pass_outcome::dropped: // nothing was learned
    return what::not_sent;
  case pass_outcome::success:
  case pass_outcome::limited: // an answer: the service is well
    break;
  }
  return what::success;
}

} // namespace

void circuit_breaker_state::load() {
  self->request(parts.reader, caf::infinite, load_table{table::circuit, row_key(), {}, 1})
    .then(
      [this](const table_page& page) {
        if (!page.rows.empty() && page.rows.front().key == row_key()) {
          if (auto stored = json::decode<circuit>(page.rows.front().value))
            state = restored(*stored, now());
          else
            log::warning("the row of a circuit cannot be read; it starts closed",
                         {{"service", service}});
        }
        loaded = true;
        for (const auto& r : std::exchange(early, {}))
          apply({event_of(r.outcome), r.permit, r.count});
        for (const auto& w : watchers)
          self->send(w, change());
        pump();
      },
      [this](const caf::error& e) {
        log::error("loading a circuit failed, trying again",
                   {{"service", service}, {"error", to_text(e)}});
        arm_tick(self, parts.clock, tick_at, now() + load_retry);
      });
}

/// Asks the rule and carries out what does not concern a single request.
circuit_step circuit_breaker_state::apply(const circuit_event& e) {
  const auto before = state;
  auto step = next(before, e, config, now());
  state = step.next;
  auto stored = state;
  stored.probe = before.probe;
  if (stored != before) save();
  if (step.effect == circuit_effect::let_probe) probe_since = now();
  if (state.status != before.status) {
    log::info("a circuit changed", {{"service", service}, {"state", in_words(state.status)}});
    for (const auto& w : watchers)
      self->send(w, change());
  }
  return step;
}

void circuit_breaker_state::save() {
  append order;
  order.ops.push_back(put_row{table::circuit, row_key(), json::encode(state)});
  self->send(parts.journal, std::move(order));
}

void circuit_breaker_state::acquire(acquire_pass& order) {
  if (held.size() >= parts.config->held_max)
    return turn_back(self, order, wait_answer(now() + parts.config->hold, "circuit: " + service),
                     {});
  const auto turn = order.what.installation;
  held.push(turn, {std::move(order), now() + parts.config->hold});
  pump();
}

void circuit_breaker_state::let_go(acquire_pass& order, const circuit_step& step) {
  order.probe = step.effect == circuit_effect::let_probe;
  const auto following = order.limiter ? order.limiter : order.refresher;
  pass_on(self, order, following);
}

/// Lets go whoever may, by turns, and answers those that would wait too long.
void circuit_breaker_state::pump() {
  const auto time = now();
  if (loaded) {
    const auto may_pass = [&] {
      return next(state, {what::ask, 1}, config, time).effect != circuit_effect::refuse;
    };
    while (!held.empty() && may_pass()) {
      auto first = held.pop();
      const auto step = apply({what::ask, first.order.permit});
      let_go(first.order, step);
    }
  }
  const bool open = loaded && state.status == circuit_status::open;
  const auto too_late = [&](const held_pass& h) {
    return h.deadline <= time || (open && open_until() > h.deadline);
  };
  const auto until = open ? open_until() : time + std::min(probe_wait, config.reset_timeout);
  for (const auto& h : held.take_if(too_late))
    turn_back(self, h.order, wait_answer(until, "circuit open: " + service), {});
  arm_timers();
}

void circuit_breaker_state::arm_timers() {
  timestamp earliest{};
  held.each([&](const held_pass& h) {
    if (earliest == never || h.deadline < earliest) earliest = h.deadline;
  });
  arm_tick(self, parts.clock, tick_at, earliest);
  if (state.status == circuit_status::open) arm_tick(self, parts.clock, tick_at, open_until());
  if (state.probe != 0)
    arm_tick(self, parts.clock, tick_at, probe_since + parts.config->probe_timeout);
}

void circuit_breaker_state::finish(const request_finished& r) {
  if (!loaded) {
    if (early.size() < parts.config->held_max) early.push_back(r);
    return;
  }
  apply({event_of(r.outcome), r.permit, r.count});
  pump();
}

void circuit_breaker_state::watch(const watch_circuit& order) {
  if (!order.from) return;
  if (std::find(watchers.begin(), watchers.end(), order.from) == watchers.end())
    watchers.push_back(order.from);
  if (loaded) self->send(order.from, change());
}

void circuit_breaker_state::tick() {
  tick_at = never;
  if (!loaded) {
    load();
    return pump();
  }
  if (state.status == circuit_status::open) apply({what::timeout, 0, 1, state.opened_at});
  if (state.probe != 0 && probe_since + parts.config->probe_timeout <= now())
    apply({what::failure, state.probe});
  pump();
}

circuit_changed circuit_breaker_state::change() const {
  return {service, state.status,
          state.status == circuit_status::open ? open_until() : timestamp{never}};
}

circuit_breaker_actor::behavior_type
circuit_breaker(circuit_breaker_actor::stateful_pointer<circuit_breaker_state> self,
                gate_parts parts, std::string service) {
  auto& s = self->state;
  const auto own = parts.config->circuits.find(service);
  s.config = own == parts.config->circuits.end() ? parts.config->circuit : own->second;
  s.parts = std::move(parts);
  s.service = std::move(service);
  s.load();
  return {
    [self](inspect_atom) {
      const auto& st = self->state;
      auto text = std::string{st.loaded ? in_words(st.state.status) : "reading"};
      if (st.state.status == circuit_status::open) text += " until " + to_rfc3339(st.open_until());
      if (st.state.failures != 0) text += ", " + std::to_string(st.state.failures) + " failures";
      auto card = card_of(self, std::move(text), st.state.probe != 0 ? "its probe" : "");
      card.label = st.service;
      return card;
    },
    counted(self, [self](acquire_pass& order) { self->state.acquire(order); }),
    counted(self, [self](const request_finished& r) { self->state.finish(r); }),
    counted(self, [self](const watch_circuit& order) { self->state.watch(order); }),
    counted(self, [self](tick_atom) { self->state.tick(); }),
  };
}

} // namespace sluice
