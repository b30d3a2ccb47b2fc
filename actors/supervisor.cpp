#include "actors/supervisor.hpp"

#include "base/log.hpp"

#include <caf/stateful_actor.hpp>

namespace sluice {

void supervisor_state::watch(const core_actors& all) {
  core = all;
  auto add = [this](const auto& who, const char* what) {
    if (!who) return;
    watched.emplace(who.id(), what);
    self->monitor(who);
  };
  add(all.journal, "journal");
  add(all.reader, "reader");
  add(all.event_log, "event-log");
  add(all.admission, "admission");
  add(all.timekeeper, "timekeeper");
  add(all.http_client, "http-client");
  add(all.inspector, "inspector");
  add(all.retention, "retention");
  add(all.gatekeeper, "gatekeeper");
  add(all.gateway, "gateway");
  for (const auto& host : all.hosts)
    add(host, "run-host");
}

void supervisor_state::end(const end_node& order) {
  ending = true;
  log::info("stopping: no new runs, steps under way finish", {{"deadlineMs", order.drain_timeout}});
  draining = 1 + core.hosts.size();
  auto drain = [this, &order](const auto& who) {
    self->request(who, order.drain_timeout, drain_runs{})
      .then([this](const drained&) { one_drained(); },
            [this](const caf::error&) {
              if (draining == 0) return;
              draining = 0;
              flush(false);
            });
  };
  drain(core.admission);
  for (const auto& host : core.hosts)
    drain(host);
}

void supervisor_state::one_drained() {
  if (draining == 0) return;
  if (--draining == 0) flush(true);
}

void supervisor_state::flush(bool drained) {
  // Only a node whose steps all ended may say that nothing was cut off (4.7).
  self->request(core.journal, caf::infinite, flush_journal{drained})
    .then([this, drained](const flushed&) { answer.deliver(node_ended{drained}); },
          [this](caf::error& e) { answer.deliver(std::move(e)); });
}

supervisor_actor::behavior_type
supervisor(supervisor_actor::stateful_pointer<supervisor_state> self,
           std::function<void(std::string)> on_death) {
  self->state.on_death = std::move(on_death);
  self->set_down_handler([self](const caf::down_msg& down) {
    auto& st = self->state;
    auto who = st.watched.find(down.source.id());
    if (who == st.watched.end() || !st.on_death) return;
    auto tell = std::exchange(st.on_death, nullptr);
    auto why = who->second + ": " + to_text(down.reason);
    if (!st.ending)
      tell(std::move(why));
    else if (st.answer.pending()) // whoever waits for the end would wait for ever
      st.answer.deliver(make_error(errc::storage_failed, "died while the node ended: " + why));
  });
  return {
    [self](inspect_atom) {
      return card_of(self, self->state.ending
                             ? "ending the node"
                             : std::to_string(self->state.watched.size()) + " actors watched");
    },
    counted(self, [self](const core_actors& all) { self->state.watch(all); }),
    counted(self,
            [self](const end_node& order) -> caf::result<node_ended> {
              self->state.answer = self->make_response_promise<node_ended>();
              auto promise = self->state.answer;
              self->state.end(order);
              return promise;
            }),
  };
}

} // namespace sluice
