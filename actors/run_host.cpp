#include "actors/run_host.hpp"

#include "base/json.hpp"
#include "base/log.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

namespace {

/// Memos are loaded for so many runs, and so many steps, at a time: enough to make the reads
/// sequential, little enough to keep memory and the host's turn short.
constexpr std::size_t load_runs_max = 1000;
constexpr std::size_t load_steps_max = 16'384;
constexpr std::size_t recall_steps_max = 1000;
constexpr auto retry_interval = std::chrono::seconds{1};

/// Why an event in the log cancels a run.
std::string cancel_reason(const event& found) {
  if (found.kind != event_kind::run_cancelled) return "cancelled by event " + found.kind;
  auto said = json::decode<failure>(found.data);
  return said ? std::move(said->message) : "cancelled";
}

/// Moves the content out and leaves an empty list behind.
template <class T>
std::vector<T> drain(std::vector<T>& from) {
  return std::exchange(from, {});
}

} // namespace

void run_host_state::read_clock() {
  out.now = config.clock.now(self->clock().now());
}

machine* run_host_state::find(run_ref who) {
  if (who.place >= places.size() || places[who.place].tenancy != who.tenancy) return nullptr;
  return places[who.place].run.get();
}

machine* run_host_state::find(run_id run) {
  auto known = by_id.find(run);
  return known == by_id.end() ? nullptr : places[known->second].run.get();
}

// -- taking runs up -----------------------------------------------------------------

run_ref run_host_state::take_place(run_start start) {
  std::uint32_t index = 0;
  if (vacant.empty()) {
    index = static_cast<std::uint32_t>(places.size());
    places.emplace_back();
  } else {
    index = vacant.back();
    vacant.pop_back();
  }
  auto& p = places[index];
  const run_ref who{index, ++p.tenancy};
  by_id[start.row.id] = index;
  const auto& flow = *config.flows->find(start.row.workflow);
  p.run = std::make_unique<machine>(*config.flows, flow, std::move(start), who, config.limits);
  return who;
}

void run_host_state::take_up(start_runs& order) {
  for (auto& start : order.runs) {
    if (by_id.contains(start.row.id)) continue;
    if (start.kind == start_kind::resumed) {
      expected.try_emplace(start.row.id);
      to_load.push_back(std::move(start));
      continue;
    }
    take_in(std::move(start), {}, false);
  }
  for (const auto& want : drain(to_fetch))
    fetch(want);
  load_next();
}

void run_host_state::load_next() {
  if (!loading.empty() || to_load.empty()) return;
  load_steps want;
  want.limit = load_steps_max;
  while (!to_load.empty() && loading.size() < load_runs_max) {
    want.runs.push_back(to_load.front().row.id);
    loading.push_back(std::move(to_load.front()));
    to_load.pop_front();
  }
  self->request(core.reader, caf::infinite, std::move(want))
    .then(
      [this](step_page& page) {
        read_clock();
        loaded(page);
        carry();
      },
      [this](const caf::error& e) {
        // A store error is never swallowed: the runs stay here and are asked for again.
        log::error("loading runs failed, trying again", {{"error", to_text(e)}});
        for (auto& start : drain(loading))
          to_load.push_back(std::move(start));
        self->delayed_send(self, retry_interval, start_runs{});
      });
}

void run_host_state::loaded(step_page& page) {
  auto asked = drain(loading);
  const auto here = page.runs.size();
  for (std::size_t i = 0; i < here; ++i) {
    const bool more = page.next && page.next->ordinal && i + 1 == here;
    auto node = expected.extract(asked[i].row.id);
    if (!node.empty() && node.mapped()) asked[i].cancel_reason = std::move(node.mapped());
    take_in(std::move(asked[i]), std::move(page.runs[i]), more);
  }
  for (auto i = asked.size(); i > here; --i)
    to_load.push_front(std::move(asked[i - 1]));
  load_next();
}

void run_host_state::take_in(run_start start, run_memo memo, bool more) {
  const bool resumed = start.kind == start_kind::resumed;
  const bool cancelled = start.cancel_reason.has_value();
  const auto who = take_place(std::move(start));
  auto& run = *places[who.place].run;
  run.load(std::move(memo), more);
  if (cancelled || !look_for_cancels(who, run, resumed)) run.begin(out);
}

/// A cancellation may be in the event log already, or come at any time (P11). True: the run begins
/// when the log has been looked at, so that one that was cancelled while it waited does nothing.
bool run_host_state::look_for_cancels(run_ref who, const machine& run, bool resumed) {
  const auto& flow = *config.flows->find(run.row().workflow);
  if (run.row().why != ending::none || (flow.cancel_on.empty() && !resumed)) return false;
  auto& p = places[who.place];
  auto ask = [&](std::string kind, std::string subject, bool last) {
    effects::question q{who, cancels, {}};
    q.what.id = out.next_token++;
    q.what.kind = std::move(kind);
    q.what.subject = std::move(subject);
    q.what.after = run.first_seq();
    q.what.last = last;
    (last ? p.gate : p.watches.emplace_back()) = q.what.id;
    out.questions.push_back(std::move(q));
  };
  for (const auto& rule : flow.cancel_on)
    ask(rule.kind, rule.subject(run.input()), false);
  // The event log answers in the order of the questions: this one, which is always answered, last.
  ask(event_kind::run_cancelled, to_string(run.id()), true);
  return true;
}

void run_host_state::fetch(const effects::load& want) {
  load_steps steps{{want.id}, {0, want.after}, want.recall ? recall_steps_max : load_steps_max};
  auto failed = [this, want](const caf::error& e) { fetch_again(want, e); };
  if (!want.recall) {
    self->request(core.reader, caf::infinite, std::move(steps))
      .then(
        [this, who = want.run](step_page& page) {
          read_clock();
          if (auto* run = find(who)) {
            run_memo memo;
            if (!page.runs.empty()) memo = std::move(page.runs.front());
            run->feed(out, std::move(memo), page.next.has_value());
          }
          carry();
        },
        failed);
    return;
  }
  self->request(core.reader, caf::infinite, load_marks{want.id})
    .then(
      [this, failed, steps, who = want.run](marks_loaded& marks) mutable {
        self->request(core.reader, caf::infinite, std::move(steps))
          .then(
            [this, who, marks = std::move(marks.marks)](step_page& page) mutable {
              read_clock();
              if (auto* run = find(who)) {
                recalled_memo memo;
                memo.marks = std::move(marks);
                if (!page.runs.empty()) memo.steps = std::move(page.runs.front().steps);
                if (page.next) memo.next = page.next->ordinal;
                run->recalled(out, std::move(memo));
              }
              carry();
            },
            failed);
      },
      failed);
}

void run_host_state::fetch_again(const effects::load& want, const caf::error& why) {
  log::error("loading a memo failed, trying again", {{"error", to_text(why)}});
  to_fetch.push_back(want);
  self->delayed_send(self, retry_interval, start_runs{});
}

// -- facts ----------------------------------------------------------------------------

void run_host_state::committed(const appended& done) {
  for (auto id : done.ids) {
    // The journal answers in the order in which it was asked.
    while (!commits.empty() && commits.front().id <= id) {
      auto next = std::move(commits.front());
      commits.pop_front();
      for (const auto& ref : next.who)
        if (auto* run = find(ref.run)) run->committed(out, ref.what);
    }
  }
}

void run_host_state::answered(events_found& found) {
  for (auto& answer : found.answers) {
    auto node = questions.extract(answer.id);
    if (node.empty()) continue;
    auto& q = node.mapped();
    auto* run = find(q.who);
    if (run == nullptr) continue;
    if (q.ordinal != cancels) {
      run->answered(out, q.ordinal, answer.id, std::move(answer.found));
      continue;
    }
    if (answer.found) run->cancel(out, cancel_reason(*answer.found), true);
    if (answer.id == places[q.who.place].gate) run->begin(out);
  }
}

caf::result<run_stopped> run_host_state::cancel(const cancel_run& order) {
  if (auto* run = find(order.run)) {
    if (!run->cancel(out, order.reason, false) && !run->being_cancelled())
      return make_error(errc::conflict, "the run is ending already");
  } else if (auto early = expected.find(order.run); early != expected.end()) {
    early->second = order.reason;
  } else {
    // It left while this message was on its way: the first commit wins (F29).
    return make_error(errc::conflict, "the run has ended or was parked");
  }
  auto promise = self->make_response_promise<run_stopped>();
  stoppers[order.run].push_back(promise);
  return promise;
}

// -- carrying ---------------------------------------------------------------------------

void run_host_state::carry() {
  if (!out.ops.empty()) {
    const auto id = out.next_token++;
    commits.push_back({id, drain(out.commits)});
    self->send(core.journal, append{caf::actor_cast<commit_sink>(self), id, drain(out.ops)});
  }
  if (!out.timers.empty())
    self->send(core.timekeeper, arm_timers{caf::actor_cast<wake_sink>(self), drain(out.timers)});
  if (!out.forgotten.empty()) forget(drain(out.forgotten));
  send_questions();
  for (auto& call : drain(out.calls))
    ask_outside(call);
  for (auto id : drain(out.aborts))
    drop(id);
  for (auto& told : drain(out.finished))
    self->send(core.gatekeeper, std::move(told));
  for (const auto& want : drain(out.loads))
    fetch(want);
  if (!out.slots_returned.empty())
    self->send(core.admission, slots_returned{drain(out.slots_returned)});
  if (!out.slots_wanted.empty()) self->send(core.admission, slots_wanted{drain(out.slots_wanted)});
  if (!out.calm.empty()) self->send(core.admission, runs_calm{drain(out.calm)});
  for (auto who : drain(out.stopped)) {
    auto* run = find(who);
    if (run == nullptr) continue;
    auto node = stoppers.extract(run->id());
    if (node.empty()) continue;
    for (auto& promise : node.mapped())
      promise.deliver(run_stopped{{run->id()}});
  }
  runs_left gone;
  for (auto who : drain(out.left)) {
    auto* run = find(who);
    if (run == nullptr) continue;
    gone.runs.push_back({run->row(), run->first_seq()});
    remove(who);
  }
  if (!gone.runs.empty()) self->send(core.admission, std::move(gone));
  check_drained();
}

void run_host_state::send_questions() {
  if (out.questions.empty()) return;
  ask_events asked{caf::actor_cast<event_sink>(self), {}};
  for (auto& q : out.questions) {
    questions.emplace(q.what.id, question{q.run, q.ordinal, q.what.kind, q.what.subject});
    asked.questions.push_back(std::move(q.what));
  }
  out.questions.clear();
  self->send(core.event_log, std::move(asked));
}

void run_host_state::forget(const std::vector<token>& ids) {
  forget_events what{caf::actor_cast<event_sink>(self), {}, {}, {}};
  for (auto id : ids) {
    auto node = questions.extract(id);
    if (node.empty()) continue;
    what.ids.push_back(id);
    what.kinds.push_back(std::move(node.mapped().kind));
    what.subjects.push_back(std::move(node.mapped().subject));
  }
  if (!what.ids.empty()) self->send(core.event_log, std::move(what));
}

void run_host_state::remove(run_ref who) {
  auto& p = places[who.place];
  if (auto node = stoppers.extract(p.run->id()); !node.empty())
    for (auto& promise : node.mapped())
      promise.deliver(make_error(errc::conflict, "the run was parked: " + p.run->row().reason));
  by_id.erase(p.run->id());
  if (!p.watches.empty()) forget(drain(p.watches));
  p.run.reset();
  ++p.tenancy;
  vacant.push_back(who.place);
}

/// Work under way is either being committed or waits for an answer from the network.
void run_host_state::check_drained() {
  if (drainers.empty() || !commits.empty() || !calls.empty()) return;
  for (auto& promise : drainers)
    promise.deliver(drained{0});
  drainers.clear();
}

run_counts run_host_state::count() const {
  run_counts counts;
  counts.hosted = by_id.size();
  counts.loading = to_load.size() + loading.size();
  return counts;
}

run_host_actor::behavior_type run_host(run_host_actor::stateful_pointer<run_host_state> self,
                                       host_config config) {
  auto& s = self->state;
  s.config = std::move(config);
  s.out.make_uuid = [self](timestamp now) { return self->state.config.ids.next(now); };
  // Every handler is the same walk: what time is it, hand the fact over, send what the runs want.
  auto fact = [self](auto handle) {
    return [self, handle](auto& message) {
      self->state.read_clock();
      handle(self->state, message);
      self->state.carry();
    };
  };
  return {
    [self](inspect_atom) {
      const auto& st = self->state;
      auto card = card_of(self, std::to_string(st.by_id.size()) + " runs",
                          st.commits.empty() ? "" : "journal");
      card.label = st.config.label;
      return card;
    },
    [self](core_actors& core) { self->state.core = std::move(core); },
    counted(
      self,
      [fact](start_runs& m) { fact([](auto& st, start_runs& order) { st.take_up(order); })(m); }),
    counted(
      self,
      [fact](appended& m) { fact([](auto& st, const appended& done) { st.committed(done); })(m); }),
    counted(self,
            [fact](events_found& m) {
              fact([](auto& st, events_found& found) { st.answered(found); })(m);
            }),
    counted(self,
            [fact](wake_runs& m) {
              fact([](auto& st, const wake_runs& due) {
                for (auto id : due.runs)
                  if (auto* run = st.find(id)) run->wake(st.out);
              })(m);
            }),
    counted(self,
            [fact](slots_granted& m) {
              fact([](auto& st, const slots_granted& granted) {
                for (auto id : granted.runs)
                  if (auto* run = st.find(id)) run->slot_granted(st.out);
              })(m);
            }),
    counted(self,
            [fact](http_answered& m) {
              fact([](auto& st, http_answered& answer) {
                st.responded(answer.id, std::move(answer.response));
              })(m);
            }),
    counted(self,
            [fact](pass_answered& m) {
              fact([](auto& st, pass_answered& answer) { st.passed(answer); })(m);
            }),
    counted(self,
            [fact](page_delivered& m) {
              fact([](auto& st, page_delivered& answer) {
                const auto id = answer.id;
                st.responded(id, std::move(answer));
              })(m);
            }),
    [self](const delivery_stalled& what) {
      auto& st = self->state;
      auto call = st.calls.find(what.id);
      if (call == st.calls.end()) return;
      if (auto* run = st.find(call->second.who)) run->stalled(what);
    },
    counted(self,
            [fact](cancel_runs& m) {
              fact([](auto& st, const cancel_runs& order) {
                for (auto id : order.runs)
                  if (auto* run = st.find(id)) run->cancel(st.out, "cancelled", true);
              })(m);
            }),
    counted(self,
            [self](const cancel_run& order) -> caf::result<run_stopped> {
              self->state.read_clock();
              auto answer = self->state.cancel(order);
              self->state.carry();
              return answer;
            }),
    [self](const look_at_run& q) -> caf::result<run_look> {
      auto* run = self->state.find(q.run);
      run_look seen = run == nullptr ? run_look{} : run->look();
      seen.host = self->state.config.label;
      return seen;
    },
    [self](const count_runs&) -> caf::result<run_counts> { return self->state.count(); },
    [self](const drain_runs&) -> caf::result<drained> {
      auto promise = self->make_response_promise<drained>();
      self->state.out.draining = true;
      self->state.drainers.push_back(promise);
      self->state.check_drained();
      return promise;
    },
  };
}

} // namespace sluice
