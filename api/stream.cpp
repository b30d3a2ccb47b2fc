#include "api/stream.hpp"

#include "api/input.hpp"
#include "api/run_json.hpp"
#include "api/runs.hpp"

#include <utility>

namespace sluice::api {

namespace {

void looked(api_state& s, run_id run, const result<run_view>& seen);

void look(api_state& s, run_id run) {
  auto& w = s.watches.runs[run];
  if (w.looking) return;
  w.looking = true;
  load_steps steps{{run}, {}, steps_shown};
  steps.after.ordinal = w.steps_after();
  view_run(s, std::move(steps), [&s, run](const result<run_view>& seen) { looked(s, run, seen); });
}

void keep_ticking(api_state& s) {
  if (s.watches.ticking || s.watches.runs.empty()) return;
  s.watches.ticking = true;
  s.self->delayed_send(s.self, s.config.watch_interval, tick_atom_v);
}

void end_all(watched_run& w, const std::string& last) {
  for (auto& client : w.clients) {
    client.body->write(last);
    client.body->end();
  }
}

/// Those who wait for their stream hear why there is none; the others wait for the next look.
void look_failed(api_state& s, run_id run, watched_run& w, const error& why) {
  for (const auto& c : std::exchange(w.joining, {}))
    c->fail(why);
  const bool gone = why.category() == caf::atom("sluice") && code_of(why) == errc::not_found;
  if (gone) end_all(w, {});
  if (gone || w.clients.empty()) s.watches.runs.erase(run);
  keep_ticking(s);
}

void tell(api_state& s, watched_run& w, const std::string& told) {
  const auto now = s.clock.now(s.self->clock().now());
  for (auto& client : w.clients) {
    if (!told.empty()) {
      client.body->write(told);
      client.told_at = now;
    } else if (now - client.told_at >= s.config.heartbeat) {
      client.body->write(": still here\n\n");
      client.told_at = now;
    }
  }
  for (const auto& c : std::exchange(w.joining, {})) {
    auto body = std::make_shared<http::live_body>(stream_bytes_max);
    body->write(w.all());
    c->answer_events(body);
    w.clients.push_back({std::move(body), now});
  }
  std::erase_if(w.clients, [](const watched_run::client& x) { return x.body->closed(); });
}

void looked(api_state& s, run_id run, const result<run_view>& seen) {
  const auto known = s.watches.runs.find(run);
  if (known == s.watches.runs.end()) return;
  auto& w = known->second;
  w.looking = false;
  if (!seen) return look_failed(s, run, w, seen.error());
  auto told = w.take_progress(*seen);
  const bool more_steps = w.take_steps(*seen, told);
  tell(s, w, told);
  if (w.clients.empty() && w.joining.empty()) {
    s.watches.runs.erase(known);
  } else if (more_steps) {
    look(s, run);
  } else if (is_terminal(seen->found.row->status)) {
    end_all(w, server_event("completed", to_json(*seen, with_steps::no)));
    s.watches.runs.erase(known);
  }
  keep_ticking(s);
}

} // namespace

void stream_run(api_state& s, const call_ptr& c) {
  const auto run = run_of(*c);
  if (run.is_nil()) return;
  if (auto bad = input::of_query(c->target).problem()) return c->fail(*bad);
  if (s.watches.clients() >= s.config.watchers_max) {
    return c->fail({503, "UNAVAILABLE", "the node has too many streams open", true});
  }
  s.watches.runs[run].joining.push_back(c);
  look(s, run);
}

void poll_watched(api_state& s) {
  s.watches.ticking = false;
  std::vector<run_id> runs;
  for (auto& [run, w] : s.watches.runs) {
    std::erase_if(w.clients, [](const watched_run::client& x) { return x.body->closed(); });
    runs.push_back(run);
  }
  std::erase_if(s.watches.runs, [](const auto& entry) {
    return entry.second.clients.empty() && entry.second.joining.empty();
  });
  for (const auto run : runs) {
    if (s.watches.runs.contains(run)) look(s, run);
  }
  keep_ticking(s);
}

} // namespace sluice::api
