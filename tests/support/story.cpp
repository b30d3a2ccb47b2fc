#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

namespace sluice {

namespace {

/// One message, or the next timer when there is none. False: nothing will ever happen.
bool step_on(world& w) {
  return w.run_one(0) || w.next_moment();
}

} // namespace

std::size_t killed_at_every_message(const story& s) {
  std::size_t kills = 0;
  for (std::size_t at = 0;; ++at) {
    world w{s.flows, s.options};
    REQUIRE(w.boot());
    s.begin(w);
    std::size_t messages = 0;
    // The first time undisturbed.
    bool over = s.done(w);
    while (!over && (at == 0 || messages < at)) {
      const auto before = w.now();
      REQUIRE(step_on(w));
      if (w.now() == before) ++messages;
      over = s.done(w);
      REQUIRE(messages < 100'000);
    }
    if (over && at != 0) return kills;
    INFO("killed after message " << at);
    if (!over) {
      w.crash();
      ++kills;
      REQUIRE(w.boot());
      s.begin(w);
      REQUIRE(w.pass_until([&] { return s.done(w); }, s.at_most));
    }
    w.pass_time(duration{120'000});
    REQUIRE(w.death().empty());
    s.check(w);
  }
}

bool run_until(world& w, const std::function<bool()>& when, duration at_most) {
  const auto end = w.now() + at_most;
  while (!when()) {
    if (w.now() > end || !step_on(w)) return false;
  }
  return true;
}

bool crash_when(world& w, const std::function<bool()>& when) {
  const bool happened = run_until(w, when);
  w.crash();
  return happened;
}

void request_later(world& w, run_request what) {
  w.ask_with<runs_accepted>(w.core().event_log, request_runs{{std::move(what)}},
                            [](const result<runs_accepted>&) {});
}

void publish_later(world& w, std::string kind, std::string subject, std::string data,
                   std::string key) {
  event e;
  e.kind = std::move(kind);
  e.subject = std::move(subject);
  e.data = std::move(data);
  e.key = std::move(key);
  w.ask_with<event_published>(w.core().event_log, publish_event{std::move(e)},
                              [](const result<event_published>&) {});
}

std::optional<run_id> run_of(const world& w, std::string_view key) {
  for (const auto& [id, run] : w.disk->runs)
    if (run.row.dedupe_key == key) return id;
  return {};
}

std::string result_of(const world& w, std::string_view key) {
  auto run = run_of(w, key);
  if (!run) return {};
  auto outcome = w.outcome(*run);
  if (!outcome || outcome->status != run_status::completed) return {};
  return outcome->result.text;
}

std::optional<step_record> step_named(const world& w, run_id run, std::string_view name) {
  for (auto& step : w.steps(run))
    if (step.name == name) return std::move(step);
  return {};
}

run_request keyed_request(std::string workflow, std::string input, std::string key) {
  run_request request;
  request.workflow = std::move(workflow);
  request.input = std::move(input);
  request.idempotency_key = std::move(key);
  return request;
}

} // namespace sluice
