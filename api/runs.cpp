#include "api/runs.hpp"

#include "api/input.hpp"
#include "api/run_json.hpp"

#include <utility>

namespace sluice::api {

namespace {

constexpr std::size_t name_bytes_max = 200;
constexpr std::size_t reason_bytes_max = 1000;
constexpr std::uint64_t page_runs_max = 500;

/// The run that the path names; nil after the call was answered.
run_id run_of(const call_ptr& c) {
  const auto id = parse_uuid(c->params.front());
  if (id) return run_id{*id};
  c->fail({404, "JOB_NOT_FOUND", "no such run"});
  return {};
}

std::string accepted_json(const run_accepted& run) {
  json::writer w;
  w.obj().key("runId").str(to_string(run.run)).key("correlationId").str(run.correlation);
  return w.key("status").str(to_string(run.status)).end().take();
}

} // namespace

void start_run(api_state& s, const call_ptr& c) {
  auto in = input::of_body(c->request.body);
  run_request wanted;
  wanted.workflow = in.text("workflow", name_bytes_max);
  wanted.input = in.value("input");
  wanted.idempotency_key = in.text_or_none("idempotencyKey", name_bytes_max);
  wanted.correlation = c->correlation;
  wanted.traceparent = c->traceparent;
  if (auto bad = in.problem()) return c->fail(*bad);
  ask(s, c, s.core.event_log, s.config.answer_timeout, request_runs{{std::move(wanted)}},
      [c](const runs_accepted& accepted) { c->answer(202, accepted_json(accepted.runs.at(0))); });
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
  const auto run = run_of(c);
  if (run.is_nil()) return;
  auto in = input::of_query(c->target);
  load_steps steps{{run}, {}, steps_shown};
  constexpr std::uint64_t none = no_ordinal;
  const auto after = in.number("stepsAfter", none, 0, none - 1);
  if (after != none) steps.after.ordinal = static_cast<std::uint32_t>(after);
  if (auto bad = in.problem()) return c->fail(*bad);

  auto seen = std::make_shared<run_view>();
  const auto timeout = s.config.answer_timeout;
  auto looked = [c, seen](run_look& look) {
    seen->look = std::move(look);
    c->answer(200, to_json(*seen));
  };
  auto loaded = [&s, c, seen, timeout, looked](step_page& page) {
    seen->steps = std::move(page);
    if (is_terminal(seen->found.row->status)) return c->answer(200, to_json(*seen));
    ask(s, c, s.core.admission, timeout, look_at_run{seen->found.row->id}, looked);
  };
  auto found = [&s, c, seen, timeout, loaded, steps = std::move(steps)](run_found& known) {
    if (!known.row) return c->fail({404, "JOB_NOT_FOUND", "no such run"});
    seen->found = std::move(known);
    ask(s, c, s.core.reader, timeout, steps, loaded);
  };
  ask(s, c, s.core.reader, timeout, find_run{run}, found);
}

void resume_parked_run(api_state& s, const call_ptr& c) {
  const auto run = run_of(c);
  if (run.is_nil()) return;
  ask(s, c, s.core.admission, s.config.answer_timeout, resume_run{run},
      [c, run](const run_resumed& resumed) {
        json::writer w;
        w.obj().key("runId").str(to_string(run)).key("status").str(to_string(resumed.status));
        c->answer(202, w.end().take());
      });
}

void cancel_running(api_state& s, const call_ptr& c) {
  auto in = input::of_body(c->request.body);
  cancel_run wanted;
  wanted.run = in.run("runId");
  wanted.reason = in.text_or_none("reason", reason_bytes_max);
  if (auto bad = in.problem()) return c->fail(*bad);
  auto stopped = [c](const run_stopped& done) {
    json::writer w;
    w.obj().key("cancelled").arr();
    for (const auto& run : done.runs)
      w.str(to_string(run));
    c->answer(202, w.end().end().take());
  };
  auto failed = [c](const error& e) {
    const bool ended = e.category() == caf::atom("sluice") && code_of(e) == errc::conflict;
    if (!ended) return c->fail(e);
    // "Nothing to cancel" is a 404 on the surface; the code tells it from an unknown run.
    c->fail({404, "CANCELLATION_FAILED", detail_of(e)});
  };
  s.self->request(s.core.admission, s.config.cancel_timeout, std::move(wanted))
    .then(stopped, failed);
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
