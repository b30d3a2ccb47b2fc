#include "api/runs.hpp"

#include "api/input.hpp"
#include "api/run_json.hpp"
#include "api/run_view.hpp"
#include "messages/backfill.hpp"

#include <utility>

namespace sluice::api {

namespace {

constexpr std::size_t name_bytes_max = 200;
constexpr std::uint64_t page_runs_max = 500;

} // namespace

void put_accepted_members(json::writer& w, const run_accepted& run) {
  w.key("runId").str(to_string(run.run)).key("correlationId").str(run.correlation);
  w.key("status").str(to_string(run.status));
}

void start_run(api_state& s, const call_ptr& c) {
  auto in = input::of_body(c->request.body);
  run_request wanted;
  wanted.workflow = in.text("workflow", name_bytes_max);
  wanted.input = in.value("input");
  wanted.idempotency_key = in.text_or_none("idempotencyKey", name_bytes_max);
  wanted.correlation = c->correlation;
  wanted.traceparent = c->traceparent;
  if (auto bad = in.problem()) return c->fail(*bad);
  // However a backfill was asked for, it is found by its installation.
  if (wanted.workflow == backfill_run_name) {
    if (auto what = json::decode<backfill_request>(wanted.input)) {
      wanted.tenant = what->org;
      wanted.installation = what->installation;
    }
  }
  ask(s, c, s.core.event_log, s.config.answer_timeout, request_runs{{std::move(wanted)}},
      [c](const runs_accepted& accepted) {
        json::writer w;
        w.obj();
        put_accepted_members(w, accepted.runs.at(0));
        c->answer(202, w.end().take());
      });
}

void list_runs(api_state& s, const call_ptr& c) {
  auto in = input::of_query(c->target);
  query_runs query;
  if (auto name = in.text_or_none("status", name_bytes_max); !name.empty()) {
    query.filter.status = run_status_from_string(name);
    if (!query.filter.status) in.wrong("status", "no run has the status '" + name + "'");
  }
  query.filter.workflow = in.text_or_none("workflow", name_bytes_max);
  query.filter.installation = in.text_or_none("installationId", name_bytes_max);
  query.limit = in.number("limit", query.limit, 1, page_runs_max);
  query.before = in.run_or_none("cursor");
  if (auto bad = in.problem()) return c->fail(*bad);
  ask(s, c, s.core.reader, s.config.answer_timeout, std::move(query), [c](const run_page& page) {
    json::writer w;
    w.obj().key("runs").arr();
    for (const auto& row : page.runs) {
      w.obj();
      put_row_members(w, row);
      w.end();
    }
    w.end().key("next");
    if (page.next)
      w.str(to_string(*page.next));
    else
      w.null();
    c->answer(200, w.end().take());
  });
}

void show_run(api_state& s, const call_ptr& c) {
  const auto run = run_of(*c);
  if (run.is_nil()) return;
  auto in = input::of_query(c->target);
  load_steps steps{{run}, {}, steps_shown};
  constexpr std::uint64_t none = no_ordinal;
  const auto after = in.number("stepsAfter", none, 0, none - 1);
  if (after != none) steps.after.ordinal = static_cast<std::uint32_t>(after);
  if (auto bad = in.problem()) return c->fail(*bad);

  view_run(s, std::move(steps), [c](const result<run_view>& seen) {
    if (!seen) return c->fail(seen.error());
    c->answer(200, to_json(*seen));
  });
}

void resume_parked_run(api_state& s, const call_ptr& c) {
  const auto run = run_of(*c);
  if (run.is_nil()) return;
  ask(s, c, s.core.admission, s.config.answer_timeout, resume_run{run},
      [c, run](const run_resumed& resumed) {
        json::writer w;
        w.obj().key("runId").str(to_string(run)).key("status").str(to_string(resumed.status));
        c->answer(202, w.end().take());
      });
}

void take_event(api_state& s, const call_ptr& c) {
  auto in = input::of_body(c->request.body);
  event told;
  told.kind = in.text("kind", name_bytes_max);
  told.subject = in.text("subject", name_bytes_max);
  told.data = in.value("data");
  told.key = in.text_or_none("idempotencyKey", name_bytes_max);
  told.correlation = c->correlation;
  told.traceparent = c->traceparent;
  if (told.kind.starts_with("run.") || told.kind.starts_with("step.")) {
    in.wrong("kind", "events of the engine itself cannot be told from outside");
  }
  if (auto bad = in.problem()) return c->fail(*bad);
  ask(s, c, s.core.event_log, s.config.answer_timeout, publish_event{std::move(told)},
      [c](const event_published& done) {
        json::writer w;
        w.obj().key("existing").boolean(done.existing).key("correlationId").str(c->correlation);
        c->answer(202, w.end().take());
      });
}

} // namespace sluice::api
