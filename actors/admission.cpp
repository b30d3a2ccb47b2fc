#include "actors/admission.hpp"

#include "actors/reply.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

namespace {

constexpr std::size_t page_runs = 5000;
constexpr const char* throttle_prefix = "throttle/";

std::vector<slot_claim> claims_of(const workflow& flow, const run_row& row) {
  std::vector<slot_claim> claims;
  for (std::size_t i = 0; i < flow.limits.size(); ++i)
    claims.push_back({flow.name + "#" + std::to_string(i), i < row.keys.size() ? row.keys[i] : "",
                      flow.limits[i].capacity});
  return claims;
}

/// Whose turn it is (B22): the first key that the run has, else its installation.
std::string turn_key(const run_row& row) {
  for (const auto& key : row.keys)
    if (!key.empty()) return key;
  return row.installation;
}

std::string throttle_name(const workflow& flow, const run_row& row) {
  return throttle_prefix + flow.name + "/" + (row.keys.empty() ? "" : row.keys.back());
}

/// How a parked run is kept: ready to be resumed or cancelled.
run_start parked_start(run_row row) {
  run_start start;
  start.row = std::move(row);
  start.kind = start_kind::resumed;
  return start;
}

} // namespace

// -- letting runs in ------------------------------------------------------------------

void admission_state::admit(run_start start) {
  const auto id = start.row.id;
  if (hosted.contains(id) || others.contains(id)) return;
  const auto& flow = *flows->find(start.row.workflow);
  if (flow.throttle && start.kind == start_kind::fresh) {
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

void admission_state::queue(run_id run, const run_start& start, queue_position position) {
  book.want(run, claims_of(*flows->find(start.row.workflow), start.row), turn_key(start.row),
            position);
}

/// Starts whoever has its slots now.
void admission_state::pump() {
  if (draining) return;
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

// -- throttles (P10) ----------------------------------------------------------------------

/// Takes as many tokens as there are, stores the bucket, and only then lets the runs through.
void admission_state::run_throttle(const std::string& gate) {
  auto& t = throttles[gate];
  if (t.saving || draining) return;
  while (!t.waiting.empty()) {
    auto answer = take(t.state, 1, t.config, now());
    t.state = answer.next;
    if (!answer.granted) {
      const auto wait =
        std::max(clock.when(answer.at) - self->clock().now(), steady_point::duration{});
      self->delayed_send(self, wait, tick_atom_v);
      break;
    }
    t.granted.push_back(t.waiting.front());
    t.waiting.pop_front();
  }
  if (t.granted.empty()) return;
  t.saving = true;
  const auto id = next_token++;
  saving.emplace(id, gate);
  append order{caf::actor_cast<commit_sink>(self), id, {}};
  order.ops.push_back(put_row{table::limit, gate, json::encode(t.state)});
  self->send(core.journal, std::move(order));
}

void admission_state::saved(const appended& done) {
  for (auto id : done.ids) {
    if (auto resumed = resuming.extract(id); !resumed.empty()) {
      auto& r = resumed.mapped();
      others.erase(r.start.row.id);
      admit(std::move(r.start));
      r.answer.deliver(run_resumed{run_status::recovering});
      continue;
    }
    auto node = saving.extract(id);
    if (node.empty()) continue;
    const auto gate = node.mapped();
    auto& t = throttles[gate];
    t.saving = false;
    for (auto run : std::exchange(t.granted, {})) {
      auto known = others.find(run);
      if (known == others.end()) continue;
      known->second.where = whereabouts::queued;
      queue(run, *known->second.start, queue_position::newcomer);
    }
    run_throttle(gate);
  }
}

// -- after a restart ------------------------------------------------------------------------

void admission_state::load_page(std::optional<run_id> after, bool clean) {
  self->request(core.reader, caf::infinite, load_runs{after, page_runs})
    .then(
      [this, clean](live_run_page& page) {
        for (auto& known : page.runs) {
          if (known.corrupt && mutated(mutant::recovery_stops_at_bad_run)) {
            page.next.reset();
            break;
          }
          take_back(known, clean);
        }
        if (page.next) {
          load_page(page.next, clean);
        } else {
          recovering = false;
          next_suspect();
          recovery.deliver(found);
        }
        pump();
        send_starts();
      },
      [this, after, clean](const caf::error& e) {
        // One bad run cannot stop the others, and a store error is never swallowed (F10).
        log::error("loading runs failed, trying again", {{"error", to_text(e)}});
        load_page(after, clean);
      });
}

void admission_state::take_back(live_run& known, bool clean) {
  const auto id = known.row.id;
  if (hosted.contains(id) || others.contains(id)) return;
  if (known.corrupt && known.row.workflow.empty()) {
    // The row itself is damaged: it is shown as parked, and nothing is written over it (F23).
    known.row.status = run_status::parked;
    known.row.reason = "corrupt: the row of this run fails its checksum";
    ++found.parked;
    others[id] = {whereabouts::parked, {}, parked_start(known.row)};
    return;
  }
  run_start start;
  start.row = std::move(known.row);
  start.kind = start_kind::resumed;
  start.first_seq = known.first_seq;
  start.last_result_seq = known.last_result_seq;
  if (start.row.status == run_status::parked) {
    ++found.parked;
    others[id] = {whereabouts::parked, {}, std::move(start)};
    return;
  }
  const auto* flow = flows->find(start.row.workflow);
  if (flow == nullptr) {
    ++found.parked;
    return park(std::move(start.row),
                "unknown workflow: this build has none called '" + start.row.workflow + "'");
  }
  ++found.runs;
  if (start.row.started_at == never && start.row.why == ending::none)
    return admit(std::move(start));
  const crash_history history{start.row.crashes, start.row.crash_seq, start.last_result_seq, clean,
                              false};
  const auto verdict = judge_restart(history, crashes);
  start.row.crashes = effective_crashes(history);
  start.count_crash = !clean;
  if (verdict.mode == restart_mode::park && !mutated(mutant::crash_not_counted)) {
    ++found.parked;
    return park(std::move(start.row), "crashes: the process died "
                                        + std::to_string(start.row.crashes)
                                        + " times while this run was at work");
  }
  book.restore(id, claims_of(*flow, start.row), turn_key(start.row));
  if (verdict.mode == restart_mode::alone) {
    start.suspect = true;
    others[id] = {whereabouts::suspected, {}, std::move(start)};
    suspects.push_back(id);
    return;
  }
  others[id] = {whereabouts::queued, {}, std::move(start)};
  launch(id);
}

void admission_state::park(run_row row, std::string reason) {
  log::warning("a run is parked", {{"run", to_string(row.id)}, {"reason", reason}});
  row.status = run_status::parked;
  row.reason = std::move(reason);
  append order;
  order.ops.push_back(put_run{row});
  self->send(core.journal, std::move(order));
  const auto id = row.id;
  others[id] = {whereabouts::parked, {}, parked_start(std::move(row))};
}

void admission_state::next_suspect() {
  if (!suspect.is_nil() || draining) return;
  while (!suspects.empty()) {
    const auto id = suspects.front();
    suspects.pop_front();
    auto known = others.find(id);
    if (known == others.end() || known->second.where != whereabouts::suspected) continue;
    suspect = id;
    known->second.where = whereabouts::queued;
    return launch(id);
  }
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
    if (d.row.status == run_status::parked) {
      log::warning("a run is parked", {{"run", to_string(id)}, {"reason", d.row.reason}});
      others[id] = {whereabouts::parked, {}, parked_start(d.row)};
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
  resuming.emplace(id, resumption{std::move(start), promise});
  return promise;
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
              for (auto& [gate, t] : self->state.throttles)
                if (!t.waiting.empty()) self->state.run_throttle(gate);
              finish();
            }),
    [self](const recover& r) -> caf::result<recovered> {
      auto& st = self->state;
      st.recovering = true;
      st.recovery = self->make_response_promise<recovered>();
      // Throttles first: a run that waits behind one must not be let through by a fresh bucket.
      self
        ->request(st.core.reader, caf::infinite,
                  load_table{table::limit, throttle_prefix, {}, 1'000'000})
        .then(
          [self, clean = r.clean](const table_page& page) {
            for (const auto& row : page.rows)
              if (auto known = json::decode<bucket>(row.value))
                self->state.throttles[row.key].state = *known;
            self->state.load_page({}, clean);
          },
          [self](caf::error& e) { self->state.recovery.deliver(std::move(e)); });
      return st.recovery;
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
    [self](const drain_runs&) -> caf::result<drained> {
      self->state.draining = true;
      return drained{0};
    },
  };
}

} // namespace sluice
