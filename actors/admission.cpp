#include "actors/admission.hpp"

#include "actors/reply.hpp"
#include "base/log.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

admission_state::~admission_state() {
  for (auto& [id, e] : others)
    if (e.own) caf::anon_send_exit(e.own, caf::exit_reason::kill);
}

// -- letting runs in ------------------------------------------------------------------

void admission_state::admit(run_start start) {
  const auto id = start.row.id;
  if (hosted.contains(id) || others.contains(id)) return;
  const auto& flow = *flows->find(start.row.workflow);
  if (flow.throttle && start.row.started_at == never) {
    const auto gate = throttle_name(flow, start.row);
    others[id] = {whereabouts::throttled, {}, std::move(start)};
    auto& t = throttles[gate];
    t.config = {flow.throttle->limit, flow.throttle->period};
    t.waiting.push_back(id);
    return run_throttle(gate);
  }
  if (flow.limits.empty() && flow.actor.empty()) return dispatch(std::move(start));
  auto& e = others[id];
  e = {whereabouts::queued, {}, std::move(start)};
  queue(id, *e.start, queue_position::newcomer);
}

std::vector<slot_claim> admission_state::claims_of(const workflow& flow, const run_row& row) {
  std::vector<slot_claim> claims;
  for (std::size_t i = 0; i < flow.limits.size(); ++i)
    claims.push_back({flow.name + "#" + std::to_string(i), i < row.keys.size() ? row.keys[i] : "",
                      flow.limits[i].capacity});
  return claims;
}

/// Whose turn it is (B22): the first key that the run has, else its installation.
std::string admission_state::turn_key(const run_row& row) {
  for (const auto& key : row.keys)
    if (!key.empty()) return key;
  return row.installation;
}

void admission_state::queue(run_id run, const run_start& start, queue_position position) {
  book.want(run, claims_of(*flows->find(start.row.workflow), start.row), turn_key(start.row),
            position);
}

/// Starts whoever has its slots now.
void admission_state::pump() {
  // Runs that had begun before a restart take their slots first.
  if (draining || recovering) return;
  slots_granted granted;
  for (auto id : book.grant()) {
    auto known = others.find(id);
    if (known != others.end() && known->second.where == whereabouts::queued)
      launch(id);
    else
      granted.runs.push_back(id);
  }
  for (auto id : granted.runs)
    if (auto host = host_of(id)) self->send(host, slots_granted{{id}});
}

void admission_state::launch(run_id run) {
  auto& e = others.at(run);
  auto start = std::move(*e.start);
  e.start = run_start{};
  e.start->row.id = run;
  const auto& flow = *flows->find(start.row.workflow);
  start.admitted_at = now();
  if (flow.actor.empty()) {
    others.erase(run);
    return dispatch(std::move(start));
  }
  auto config = own_host;
  config.ids = own_host.ids.fork();
  config.label = flow.actor + " " + to_string(run);
  e.where = whereabouts::hosted;
  e.own = self->spawn(run_host, std::move(config));
  self->send(e.own, core);
  self->send(core.inspector, know_actor{e.own});
  start_runs one;
  one.runs.push_back(std::move(start));
  self->send(e.own, std::move(one));
}

void admission_state::dispatch(run_start start) {
  const auto id = start.row.id;
  const auto index = static_cast<std::uint32_t>(std::hash<run_id>{}(id) % core.hosts.size());
  hosted[id] = index;
  if (start.admitted_at == never) start.admitted_at = now();
  to_hosts.resize(core.hosts.size());
  to_hosts[index].runs.push_back(std::move(start));
}

void admission_state::send_starts() {
  for (std::size_t i = 0; i < to_hosts.size(); ++i)
    if (!to_hosts[i].runs.empty())
      self->send(core.hosts[i], std::exchange(to_hosts[i], start_runs{}));
}

run_host_actor admission_state::host_of(run_id run) {
  if (auto shared = hosted.find(run); shared != hosted.end()) return core.hosts[shared->second];
  if (auto known = others.find(run); known != others.end()) return known->second.own;
  return {};
}

// -- leaving ----------------------------------------------------------------------------------

void admission_state::leave(const runs_left& gone) {
  for (const auto& d : gone.runs) {
    const auto id = d.row.id;
    hosted.erase(id);
    book.release(id);
    if (auto known = others.find(id); known != others.end()) {
      if (known->second.own) self->send_exit(known->second.own, caf::exit_reason::user_shutdown);
      others.erase(known);
    }
    if (recovering) left_early.insert(id);
    if (d.row.status == run_status::parked) {
      log::warning("a run is parked", {{"run", to_string(id)}, {"reason", d.row.reason}});
      others[id] = {whereabouts::parked, {}, parked_start(d.row, d.first_seq)};
    }
    if (id == suspect) suspect = run_id{};
  }
  next_suspect();
}

/// Ends a run that is on no host: a host takes it up only to run its `on_failure`.
void admission_state::cancel_elsewhere(run_id run, entry& e, std::string reason, bool told) {
  if (flows->find(e.start->row.workflow) == nullptr) return;
  auto start = std::move(*e.start);
  start.cancel_reason = std::move(reason);
  start.cancel_told = told;
  start.count_crash = false;
  book.release(run);
  for (auto& [gate, t] : throttles)
    std::erase(t.waiting, run);
  others.erase(run);
  dispatch(std::move(start));
}

caf::result<run_stopped> admission_state::cancel(cancel_run& order) {
  if (auto host = host_of(order.run)) return self->delegate(host, std::move(order));
  auto known = others.find(order.run);
  if (known != others.end()) {
    if (flows->find(known->second.start->row.workflow) == nullptr)
      return make_error(errc::conflict, "this build does not know the workflow of that run");
    cancel_elsewhere(order.run, known->second, order.reason, false);
    send_starts();
    // Behind the start in the host's mailbox: answers when that cancel is committed.
    return self->delegate(core.hosts[hosted.at(order.run)], std::move(order));
  }
  auto promise = self->make_response_promise<run_stopped>();
  self->request(core.reader, caf::infinite, find_run{order.run})
    .then(
      [promise](const run_found& row) mutable {
        if (!row.row) return reply(promise, make_error(errc::not_found, "no such run"));
        promise.deliver(make_error(errc::conflict, "the run has ended: "
                                                     + std::string{to_string(row.row->status)}));
      },
      [promise](caf::error& e) mutable { promise.deliver(std::move(e)); });
  return promise;
}

caf::result<run_resumed> admission_state::resume(const resume_run& order) {
  auto known = others.find(order.run);
  if (known == others.end() || known->second.where != whereabouts::parked) {
    if (host_of(order.run) || known != others.end())
      return make_error(errc::conflict, "the run is not parked");
    auto promise = self->make_response_promise<run_resumed>();
    self->request(core.reader, caf::infinite, find_run{order.run})
      .then(
        [promise](const run_found& row) mutable {
          promise.deliver(row.row ? make_error(errc::conflict, "the run is not parked")
                                  : make_error(errc::not_found, "no such run"));
        },
        [promise](caf::error& e) mutable { promise.deliver(std::move(e)); });
    return promise;
  }
  auto start = *known->second.start;
  if (flows->find(start.row.workflow) == nullptr)
    return make_error(errc::conflict, "this build does not know the workflow of that run");
  start.row.status = run_status::recovering;
  start.row.reason.clear();
  start.row.crashes = 0;
  start.by_person = true;
  auto promise = self->make_response_promise<run_resumed>();
  const auto id = next_token++;
  append put{caf::actor_cast<commit_sink>(self), id, {}};
  put.ops.push_back(put_run{start.row});
  self->send(core.journal, std::move(put));
  known->second.where = whereabouts::resuming;
  resuming.emplace(id, resumption{std::move(start), promise});
  return promise;
}

/// No new runs; those with a host of their own finish what is under way. The shared hosts are the
/// supervisor's.
caf::result<drained> admission_state::drain() {
  draining = true;
  drain_answer = self->make_response_promise<drained>();
  auto answer = drain_answer;
  auto one_less = [this] {
    if (--hosts_draining == 0) drain_answer.deliver(drained{0});
  };
  for (const auto& [id, e] : others) {
    if (!e.own) continue;
    ++hosts_draining;
    self->request(e.own, caf::infinite, drain_runs{})
      .then([one_less](const drained&) { one_less(); },
            [one_less](const caf::error&) { one_less(); });
  }
  if (hosts_draining == 0) drain_answer.deliver(drained{0});
  return answer;
}

// -- looking ------------------------------------------------------------------------------------

caf::result<run_look> admission_state::look(const look_at_run& q) {
  if (auto host = host_of(q.run)) return self->delegate(host, q);
  run_look seen;
  auto known = others.find(q.run);
  if (known == others.end()) return seen;
  seen.live = true;
  seen.status = known->second.start->row.status;
  switch (known->second.where) {
  case whereabouts::throttled:
    seen.waits.push_back({{}, "throttle", never});
    break;
  case whereabouts::queued:
    seen.waits.push_back({{}, "slot", never});
    break;
  case whereabouts::suspected:
    seen.waits.push_back({{}, "its turn to start alone", never});
    break;
  case whereabouts::hosted:
  case whereabouts::parked:
  case whereabouts::resuming:
    break;
  }
  return seen;
}

run_counts admission_state::count() const {
  run_counts counts;
  counts.hosted = hosted.size();
  counts.recovering = recovering;
  for (const auto& [id, e] : others) {
    if (e.where == whereabouts::parked)
      ++counts.parked;
    else if (e.where == whereabouts::hosted)
      ++counts.hosted;
    else
      ++counts.pending;
  }
  return counts;
}

admission_actor::behavior_type admission(admission_actor::stateful_pointer<admission_state> self,
                                         const catalog* flows, engine_clock clock,
                                         host_config own_host, crash_config crashes) {
  auto& s = self->state;
  s.flows = flows;
  s.clock = clock;
  s.own_host = std::move(own_host);
  s.crashes = crashes;
  auto finish = [self] {
    self->state.pump();
    self->state.send_starts();
  };
  return {
    [self](inspect_atom) {
      const auto counts = self->state.count();
      return card_of(self,
                     std::to_string(counts.hosted) + " running, " + std::to_string(counts.pending)
                       + " waiting, " + std::to_string(counts.parked) + " parked",
                     self->state.recovering ? "recovery" : "");
    },
    [self](core_actors& core) { self->state.core = std::move(core); },
    counted(self,
            [self, finish](runs_requested& asked) {
              for (auto& r : asked.runs) {
                run_start start;
                start.row = std::move(r.row);
                start.input = std::move(r.input);
                start.first_seq = r.first_seq;
                self->state.admit(std::move(start));
              }
              finish();
            }),
    counted(self,
            [self, finish](const slots_returned& m) {
              for (auto run : m.runs)
                self->state.book.give_back(run);
              finish();
            }),
    counted(self,
            [self, finish](const slots_wanted& m) {
              for (auto run : m.runs) {
                if (self->state.book.return_to(run)) continue;
                // A run without limits has no slot to wait for.
                if (auto host = self->state.host_of(run)) self->send(host, slots_granted{{run}});
              }
              finish();
            }),
    counted(self,
            [self, finish](const runs_left& gone) {
              self->state.leave(gone);
              finish();
            }),
    counted(self,
            [self, finish](const runs_calm& m) {
              for (auto run : m.runs)
                if (run == self->state.suspect) self->state.suspect = run_id{};
              self->state.next_suspect();
              finish();
            }),
    counted(self,
            [self, finish](const cancel_runs& order) {
              for (auto run : order.runs) {
                if (auto host = self->state.host_of(run)) {
                  self->send(host, cancel_runs{{run}});
                } else if (auto known = self->state.others.find(run);
                           known != self->state.others.end()) {
                  self->state.cancel_elsewhere(run, known->second, "cancelled", true);
                }
              }
              finish();
            }),
    [self](const wake_runs& due) {
      for (auto run : due.runs)
        if (auto host = self->state.host_of(run)) self->send(host, wake_runs{{run}});
    },
    counted(self,
            [self, finish](const appended& done) {
              self->state.saved(done);
              finish();
            }),
    counted(self,
            [self, finish](tick_atom) {
              self->state.tick();
              finish();
            }),
    [self](const recover& r) -> caf::result<recovered> {
      self->state.clean = r.clean;
      return self->state.recover_all();
    },
    counted(
      self,
      [self](cancel_run& order) -> caf::result<run_stopped> { return self->state.cancel(order); }),
    counted(self,
            [self](const resume_run& order) -> caf::result<run_resumed> {
              return self->state.resume(order);
            }),
    [self](const look_at_run& q) -> caf::result<run_look> { return self->state.look(q); },
    [self](const count_runs&) -> caf::result<run_counts> { return self->state.count(); },
    [self](const drain_runs&) -> caf::result<drained> { return self->state.drain(); },
  };
}

} // namespace sluice