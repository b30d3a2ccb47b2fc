#include "actors/retention.hpp"

#include "base/log.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

namespace {

constexpr std::size_t runs_per_slice = 20;

/// Sorts before every run that was requested at or after `t`.
run_id first_id_of(timestamp t) {
  run_id id;
  auto ms = static_cast<std::uint64_t>(to_millis(t));
  for (std::size_t i = 6; i-- > 0; ms >>= 8)
    id.value.bytes[i] = static_cast<std::uint8_t>(ms);
  return id;
}

} // namespace

void retention_state::look() {
  if (at_work || !core.reader) return;
  at_work = true;
  const auto before = clock.now(self->clock().now()) - config.keep;
  query_runs old;
  old.filter.ended_before = before;
  old.before = next ? *next : first_id_of(before);
  old.limit = runs_per_slice;
  self->request(core.reader, caf::infinite, std::move(old))
    .then([this](const run_page& page) { remove(page); },
          [this](const caf::error& e) {
            at_work = false;
            log::warning("looking for old runs failed", {{"error", to_text(e)}});
          });
}

void retention_state::remove(const run_page& page) {
  next = page.next;
  if (page.runs.empty()) {
    at_work = false;
    // A store looks at so many rows at a time: these had none, the next may.
    if (next) look();
    return;
  }
  next.reset(); // a run with many records needs several rounds
  append order{caf::actor_cast<commit_sink>(self), 0, {}};
  for (const auto& row : page.runs)
    order.ops.push_back(trim_run{row.id, config.slice});
  order.ops.push_back(trim_log{~std::uint64_t{0}, config.slice});
  removed += page.runs.size();
  self->send(core.journal, std::move(order));
}

retention_actor::behavior_type retention(retention_actor::stateful_pointer<retention_state> self,
                                         engine_clock clock, retention_config config) {
  self->state.clock = clock;
  self->state.config = config;
  return {
    [self](inspect_atom) {
      return card_of(self, std::to_string(self->state.removed) + " runs removed",
                     self->state.at_work ? "journal" : "");
    },
    [self](core_actors& core) {
      self->state.core = std::move(core);
      self->send(self, tick_atom_v);
    },
    counted(self,
            [self](tick_atom) {
              self->state.look();
              self->delayed_send(self, self->state.config.interval, tick_atom_v);
            }),
    counted(self,
            [self](const appended&) {
              // There may be more: the next slice now, not at the next tick.
              self->state.at_work = false;
              self->state.look();
            }),
  };
}

} // namespace sluice
