#include "actors/timekeeper.hpp"

#include "base/log.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

void timekeeper_state::arm(arm_timers& order) {
  if (order.timers.empty()) return;
  const auto place = place_of(order.from);
  for (const auto& t : order.timers)
    alarms.push({t.at, t.run, place});
  sinks[place].alarms += order.timers.size();
  set_tick();
}

std::uint32_t timekeeper_state::place_of(const wake_sink& who) {
  if (auto known = places.find(who.id()); known != places.end()) return known->second;
  std::uint32_t place = 0;
  if (vacant.empty()) {
    place = static_cast<std::uint32_t>(sinks.size());
    sinks.emplace_back();
  } else {
    place = vacant.back();
    vacant.pop_back();
  }
  sinks[place].who = who;
  places.emplace(who.id(), place);
  return place;
}

void timekeeper_state::tick() {
  armed_for = never;
  const auto now = clock.now(self->clock().now());
  std::vector<wake_runs> due(sinks.size());
  while (!alarms.empty() && alarms.top().at <= now) {
    due[alarms.top().sink].runs.push_back(alarms.top().run);
    alarms.pop();
  }
  for (std::uint32_t i = 0; i < due.size(); ++i) {
    if (due[i].runs.empty()) continue;
    auto& to = sinks[i];
    to.alarms -= due[i].runs.size();
    self->send(to.who, std::move(due[i]));
    if (to.alarms != 0) continue;
    places.erase(to.who.id());
    to.who = nullptr;
    vacant.push_back(i);
  }
  set_tick();
}

void timekeeper_state::set_tick() {
  if (alarms.empty()) return;
  const auto next = alarms.top().at;
  if (armed_for != never && armed_for <= next) return;
  armed_for = next;
  const auto steady = self->clock().now();
  self->delayed_send(self, std::max(clock.when(next) - steady, steady_point::duration{}),
                     tick_atom_v);
}

void timekeeper_state::rescan() {
  self->delayed_send(self, rescan_interval, rescan_atom_v);
  if (!core.reader) return;
  const auto now = clock.now(self->clock().now());
  self->request(core.reader, caf::infinite, find_due{now, 10'000})
    .then(
      [this](due_runs& found) {
        wake_runs lost;
        for (const auto& d : found.runs)
          lost.runs.push_back(d.run);
        if (!lost.runs.empty()) self->send(core.admission, std::move(lost));
      },
      [](const caf::error& e) {
        log::warning("looking for lost timers failed, trying again", {{"error", to_text(e)}});
      });
}

timekeeper_actor::behavior_type
timekeeper(timekeeper_actor::stateful_pointer<timekeeper_state> self, engine_clock clock,
           duration rescan_interval) {
  self->state.clock = clock;
  self->state.rescan_interval = rescan_interval;
  return {
    [self](inspect_atom) {
      return card_of(self, std::to_string(self->state.alarms.size()) + " timers");
    },
    counted(self, [self](arm_timers& order) { self->state.arm(order); }),
    [self](core_actors& core) {
      self->state.core = std::move(core);
      self->delayed_send(self, self->state.rescan_interval, rescan_atom_v);
    },
    counted(self, [self](tick_atom) { self->state.tick(); }),
    counted(self, [self](rescan_atom) { self->state.rescan(); }),
  };
}

} // namespace sluice
