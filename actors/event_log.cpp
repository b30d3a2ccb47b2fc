#include "actors/event_log.hpp"

#include "actors/reply.hpp"
#include "base/log.hpp"
#include "rules/trace.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

namespace {

/// Idempotency keys of different tenants and of runs and events never meet.
std::string run_key(const run_request& r) {
  return "run/" + r.tenant + "/" + r.idempotency_key;
}

std::string watch_key(std::string_view kind, std::string_view subject) {
  std::string key{kind};
  key.push_back('\0');
  key.append(subject);
  return key;
}

std::uint64_t bits_of(const uuid& id, std::size_t from) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 8; ++i)
    bits = (bits << 8) | id.bytes[from + i];
  return bits;
}

} // namespace

// -- requests ---------------------------------------------------------------------

error event_log_state::check(const run_request& r) const {
  if (room.state == store_state::full) return no_room();
  if (live_runs >= config.live_max)
    return make_error(errc::unavailable, "the node has its limit of "
                                           + std::to_string(config.live_max) + " live runs");
  if (r.input.size() > config.input_bytes_max)
    return make_error(errc::too_large,
                      "input: at most " + std::to_string(config.input_bytes_max) + " bytes");
  const auto* flow = flows->find(r.workflow);
  if (flow == nullptr)
    return make_error(errc::bad_input, "workflow: no workflow is called '" + r.workflow + "'");
  if (auto bad = flow->check(r.input)) {
    const auto why = detail_of(bad);
    return make_error(errc::bad_input, "input" + (why.starts_with('/') ? why : ": " + why));
  }
  return {};
}

error event_log_state::no_room() const {
  return make_error(errc::disk_full, "the node is read-only, its disk is full: " + room.detail);
}

void event_log_state::request_all(request_runs& what, runs_promise promise) {
  for (const auto& r : what.runs)
    if (auto bad = check(r)) return reply(promise, std::move(bad));
  if (what.runs.size() == 1) return request_keyed(std::move(what.runs.front()), promise);
  std::vector<op> ops;
  ops.reserve(2 * what.runs.size());
  request req;
  for (const auto& r : what.runs) {
    if (!r.idempotency_key.empty())
      return reply(promise,
                   make_error(errc::bad_input, "idempotencyKey: only for one run at a time"));
    open_run(r, ops, req.answer.runs.emplace_back());
  }
  req.runs = promise;
  const auto id = next_token++;
  committing.emplace(id, std::move(req));
  self->send(core.journal, append{caf::actor_cast<commit_sink>(self), id, std::move(ops), true});
}

void event_log_state::request_keyed(run_request r, runs_promise promise) {
  if (r.idempotency_key.empty()) return request_placed(std::move(r), {}, promise);
  const auto key = run_key(r);
  with_key(key, [this, r, key, promise] {
    self->request(core.reader, caf::infinite, find_keys{{key}})
      .then(
        [this, r, key, promise](found_keys& found) mutable {
          if (!found.events.front()) return request_placed(std::move(r), {key}, promise);
          free_key(key);
          answer_existing(r, found.events.front()->run, promise);
        },
        [this, key, promise](caf::error& e) mutable {
          free_key(key);
          promise.deliver(std::move(e));
        });
  });
}

void event_log_state::commit_run(const run_request& r, std::vector<std::string> held,
                                 runs_promise promise) {
  request req;
  std::vector<op> ops;
  open_run(r, ops, req.answer.runs.emplace_back());
  req.runs = promise;
  req.keys = std::move(held);
  const auto id = next_token++;
  committing.emplace(id, std::move(req));
  self->send(core.journal, append{caf::actor_cast<commit_sink>(self), id, std::move(ops), true});
}

void event_log_state::answer_existing(const run_request& r, run_id run, runs_promise promise) {
  self->request(core.reader, caf::infinite, find_run{run})
    .then(
      [r, promise](const run_found& known) mutable {
        if (!known.row)
          return reply(promise, make_error(errc::conflict, "idempotencyKey: its run was removed"));
        if (known.row->workflow != r.workflow || known.input != r.input)
          return reply(promise, make_error(errc::conflict,
                                           "idempotencyKey: used before for another request (run "
                                             + to_string(known.row->id) + ")"));
        promise.deliver(
          runs_accepted{{{known.row->id, known.row->correlation, known.row->status, true}}});
      },
      [promise](caf::error& e) mutable { promise.deliver(std::move(e)); });
}

void event_log_state::open_run(const run_request& r, std::vector<op>& ops, run_accepted& answer) {
  const auto at = now();
  const auto& flow = *flows->find(r.workflow);
  run_row row;
  row.id = run_id{ids.next(at)};
  row.workflow = r.workflow;
  row.code_version = flow.version;
  row.tenant = r.tenant;
  row.installation = r.installation;
  row.keys = flow.keys(r.input);
  row.correlation = r.correlation.empty() ? to_string(ids.next(at)) : r.correlation;
  row.traceparent = r.traceparent;
  if (!is_traceparent(row.traceparent)) {
    const auto trace = ids.next(at);
    row.traceparent =
      new_traceparent(bits_of(trace, 0), bits_of(trace, 8), bits_of(row.id.value, 8));
  }
  row.dedupe_key = r.idempotency_key;
  row.requested_at = at;
  event e;
  e.run = row.id;
  e.kind = event_kind::run_requested;
  e.subject = to_string(row.id);
  if (!r.idempotency_key.empty()) e.key = run_key(r);
  e.correlation = row.correlation;
  e.traceparent = row.traceparent;
  e.at = at;
  e.data = r.input;
  answer.run = row.id;
  answer.correlation = row.correlation;
  ops.push_back(put_event{std::move(e)});
  ops.push_back(put_run{std::move(row)});
}

void event_log_state::publish(publish_event& what, event_promise promise) {
  if (room.state == store_state::full) return reply(promise, no_room());
  auto& e = what.what;
  if (is_engine_kind(e.kind))
    return reply(promise,
                 make_error(errc::bad_input, "kind: only the engine writes '" + e.kind + "'"));
  e.at = now();
  if (e.correlation.empty()) e.correlation = to_string(ids.next(e.at));
  if (e.key.empty()) return publish_now(std::move(e), promise);
  e.key = "event/" + e.key;
  publish_keyed(std::move(e), promise);
}

void event_log_state::publish_keyed(event e, event_promise promise) {
  with_key(e.key, [this, e, promise] {
    self->request(core.reader, caf::infinite, find_keys{{e.key}})
      .then(
        [this, e, promise](const found_keys& found) mutable {
          if (!found.events.front()) return publish_now(std::move(e), promise);
          free_key(e.key);
          const auto& known = *found.events.front();
          if (known.kind != e.kind || known.subject != e.subject || known.data != e.data)
            return reply(
              promise, make_error(errc::conflict, "idempotencyKey: used before for another event"));
          promise.deliver(event_published{true});
        },
        [this, key = e.key, promise](caf::error& failed) mutable {
          free_key(key);
          promise.deliver(std::move(failed));
        });
  });
}

void event_log_state::publish_now(event e, event_promise promise) {
  request req;
  req.single = promise;
  if (!e.key.empty()) req.keys.push_back(e.key);
  const auto id = next_token++;
  committing.emplace(id, std::move(req));
  append order{caf::actor_cast<commit_sink>(self), id, {}, true};
  order.ops.push_back(put_event{std::move(e)});
  self->send(core.journal, std::move(order));
}

void event_log_state::with_key(const std::string& key, std::function<void()> then) {
  if (auto busy = busy_keys.find(key); busy != busy_keys.end()) {
    busy->second.push_back([this, key, then = std::move(then)] { with_key(key, then); });
    return;
  }
  busy_keys[key];
  then();
}

void event_log_state::free_key(const std::string& key) {
  auto node = busy_keys.extract(key);
  if (node.empty()) return;
  for (auto& next : node.mapped())
    next();
}

void event_log_state::free_keys(const std::vector<std::string>& keys) {
  for (const auto& key : keys)
    free_key(key);
}

void event_log_state::committed(const appended& done) {
  for (auto id : done.ids) {
    auto node = committing.extract(id);
    if (node.empty()) continue;
    auto& req = node.mapped();
    if (req.runs.pending()) req.runs.deliver(std::move(req.answer));
    if (req.single.pending()) req.single.deliver(event_published{false});
    free_keys(req.keys);
  }
  for (auto id : done.refused) {
    auto node = committing.extract(id);
    if (node.empty()) continue;
    auto& req = node.mapped();
    if (req.runs.pending()) reply(req.runs, no_room());
    if (req.single.pending()) reply(req.single, no_room());
    free_keys(req.keys);
  }
}

// -- waiting for events -------------------------------------------------------------

void event_log_state::ask(ask_events& asked) {
  for (const auto& q : asked.questions) {
    if (q.last) continue;
    watchers[watch_key(q.kind, q.subject)].emplace_back(asked.from, q.id, q.after);
    ++watching;
  }
  look_up(std::move(asked));
}

void event_log_state::look_up(ask_events asked) {
  find_events look;
  for (const auto& q : asked.questions) {
    look.ids.push_back(q.id);
    look.kinds.push_back(q.kind);
    look.subjects.push_back(q.subject);
    look.after.push_back(q.after);
  }
  self->request(core.reader, caf::infinite, std::move(look))
    .then([this, asked](found_events& found) { looked_up(asked.from, asked.questions, found); },
          [this, asked](const caf::error& e) {
            log::error("looking up events failed, trying again", {{"error", to_text(e)}});
            unread.push_back(asked);
            self->delayed_send(self, std::chrono::seconds{1}, retry_atom_v);
          });
}

void event_log_state::looked_up(const event_sink& from,
                                const std::vector<event_question>& questions, found_events& found) {
  events_found answers;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto& q = questions[i];
    auto& hit = found.events[i];
    if (q.last) {
      answers.answers.push_back({q.id, std::move(hit)});
      continue;
    }
    auto list = watchers.find(watch_key(q.kind, q.subject));
    if (list == watchers.end()) continue;
    auto who = std::find_if(list->second.begin(), list->second.end(),
                            [&](const watcher& w) { return w.id == q.id && w.from == from; });
    if (who == list->second.end()) continue;
    if (!hit && who->seen) hit = std::move(*who->seen);
    who->looking = false;
    if (!hit) continue;
    answers.answers.push_back({q.id, std::move(hit)});
    list->second.erase(who);
    --watching;
    if (list->second.empty()) watchers.erase(list);
  }
  if (!answers.answers.empty()) self->send(from, std::move(answers));
}

void event_log_state::forget(const forget_events& what) {
  for (std::size_t i = 0; i < what.ids.size(); ++i) {
    auto list = watchers.find(watch_key(what.kinds[i], what.subjects[i]));
    if (list == watchers.end()) continue;
    watching -= std::erase_if(
      list->second, [&](const watcher& w) { return w.id == what.ids[i] && w.from == what.from; });
    if (list->second.empty()) watchers.erase(list);
  }
}

void event_log_state::hear(events_committed& told) {
  live_runs += told.requested.size();
  for (const auto& r : told.requested)
    live.add(r.row);
  cancel_runs cancels;
  std::vector<std::pair<event_sink, events_found>> answers;
  for (auto& e : told.events) {
    if (e.kind == event_kind::run_ended) {
      live.remove(e.run);
      if (live_runs > 0) --live_runs;
    }
    if (e.kind == event_kind::run_cancelled)
      if (auto id = parse_uuid(e.subject)) cancels.runs.push_back(run_id{*id});
    auto list = watchers.find(watch_key(e.kind, e.subject));
    if (list == watchers.end()) continue;
    std::erase_if(list->second, [&](watcher& w) {
      if (e.seq <= w.after) return false;
      if (w.looking) {
        if (!w.seen) w.seen = e;
        return false;
      }
      auto to = std::find_if(answers.begin(), answers.end(),
                             [&](const auto& a) { return a.first == w.from; });
      if (to == answers.end()) to = answers.insert(answers.end(), {w.from, {}});
      to->second.answers.push_back({w.id, e});
      --watching;
      return true;
    });
    if (list->second.empty()) watchers.erase(list);
  }
  if (!told.requested.empty())
    self->send(core.admission, runs_requested{std::move(told.requested)});
  if (!cancels.runs.empty()) self->send(core.admission, std::move(cancels));
  for (auto& [to, what] : answers)
    self->send(to, std::move(what));
}

event_log_actor::behavior_type event_log(event_log_actor::stateful_pointer<event_log_state> self,
                                         const catalog* flows, engine_clock clock, uuid_source ids,
                                         event_log_config config, std::uint64_t live_runs) {
  auto& s = self->state;
  s.flows = flows;
  s.clock = clock;
  s.ids = ids;
  s.config = config;
  s.live_runs = live_runs;
  return {
    [self](inspect_atom) {
      const auto& st = self->state;
      return card_of(self,
                     std::to_string(st.live_runs) + " live runs, " + std::to_string(st.watching)
                       + " waits for events",
                     st.committing.empty() ? "" : "journal");
    },
    [self](core_actors& core) { self->state.core = std::move(core); },
    counted(self,
            [self](request_runs& what) -> caf::result<runs_accepted> {
              auto promise = self->make_response_promise<runs_accepted>();
              self->state.request_all(what, promise);
              return promise;
            }),
    counted(self,
            [self](publish_event& what) -> caf::result<event_published> {
              auto promise = self->make_response_promise<event_published>();
              self->state.publish(what, promise);
              return promise;
            }),
    counted(self,
            [self](const find_live_runs& what) -> caf::result<live_runs_found> {
              auto promise = self->make_response_promise<live_runs_found>();
              self->state.find_live(what, promise);
              return promise;
            }),
    counted(self, [self](ask_events& asked) { self->state.ask(asked); }),
    counted(self, [self](const forget_events& what) { self->state.forget(what); }),
    counted(self, [self](events_committed& told) { self->state.hear(told); }),
    [self](store_changed& room) { self->state.room = std::move(room); },
    counted(self, [self](const appended& done) { self->state.committed(done); }),
    [self](const read_stats&) -> caf::result<store_changed> { return self->state.room; },
    [self](retry_atom) {
      for (auto& asked : std::exchange(self->state.unread, {}))
        self->state.look_up(std::move(asked));
    },
  };
}

} // namespace sluice
