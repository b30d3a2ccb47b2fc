#include "api/health.hpp"

#include "base/json.hpp"

#include <utility>

namespace sluice::api {

namespace {

struct component {
  bool healthy = false;
  std::string detail;
};

void put_component(json::writer& w, std::string_view name, const component& x) {
  w.key(name).obj().key("status").str(x.healthy ? "healthy" : "unhealthy");
  w.key("detail").str(x.detail).end();
}

void answer_ready(const call& c, const component& event_store, const component& queues) {
  const bool ready = event_store.healthy && queues.healthy;
  json::writer w;
  w.obj().key("status").str(ready ? "healthy" : "unhealthy").key("components").obj();
  put_component(w, "eventStore", event_store);
  put_component(w, "queues", queues);
  c.answer(ready ? 200 : 503, w.end().end().take());
}

component judge(const store_changed& store) {
  if (store.state == store_state::writable) return {true, "writable"};
  return {false, "read-only: " + store.detail};
}

component judge(const run_counts& runs) {
  auto detail = std::to_string(runs.pending) + " pending, " + std::to_string(runs.hosted)
                + " running, " + std::to_string(runs.parked) + " parked";
  if (runs.recovering) return {false, "recovering: " + detail};
  return {true, std::move(detail)};
}

} // namespace

void health_live(api_state&, const call_ptr& c) {
  c->answer(200, R"({"status":"healthy"})");
}

void health_ready(api_state& s, const call_ptr& c) {
  auto silent = [](const error& e) { return component{false, "no answer: " + to_text(e)}; };
  auto ask_queues = [&s, c, silent](const component& event_store) {
    s.self->request(s.core.admission, s.config.answer_timeout, count_runs{})
      .then(
        [c, event_store](const run_counts& runs) { answer_ready(*c, event_store, judge(runs)); },
        [c, event_store, silent](const error& e) { answer_ready(*c, event_store, silent(e)); });
  };
  s.self->request(s.core.event_log, s.config.answer_timeout, read_stats{})
    .then([ask_queues](const store_changed& store) { ask_queues(judge(store)); },
          [ask_queues, silent](const error& e) { ask_queues(silent(e)); });
}

} // namespace sluice::api
