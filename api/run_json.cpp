#include "api/run_json.hpp"

#include "api/backfill_json.hpp"
#include "base/clock.hpp"

namespace sluice::api {

void put_text(json::writer& w, std::string_view name, std::string_view text) {
  w.key(name);
  if (text.empty())
    w.null();
  else
    w.str(text);
}

void put_time(json::writer& w, std::string_view name, timestamp t) {
  put_text(w, name, to_rfc3339(t));
}

std::string step_json(const step_record& step) {
  const bool failed = step.status == step_status::failed;
  json::writer w;
  w.obj().key("ordinal").num(std::uint64_t{step.ordinal}).key("name").str(step.name);
  w.key("kind").str(to_string(step.kind)).key("status").str(to_string(step.status));
  w.key("failedAttempts").num(std::uint64_t{step.attempt});
  put_time(w, "at", step.at);
  put_time(w, "until", step.until);
  w.key("resultBytes");
  w.num(std::uint64_t{step.status == step_status::done ? step.payload.size() : 0});
  w.key("error").raw(failed && !step.payload.empty() ? step.payload : "null");
  return w.end().take();
}

std::string waits_json(const std::optional<run_look>& look) {
  json::writer w;
  w.arr();
  if (look) {
    for (const auto& wait : look->waits) {
      w.obj().key("step").str(wait.step).key("reason").str(wait.reason);
      put_time(w, "until", wait.until);
      w.end();
    }
  }
  return w.end().take();
}

namespace {

void put_steps(json::writer& w, const step_page& page) {
  w.key("steps").arr();
  for (const auto& memo : page.runs) {
    for (const auto& step : memo.steps)
      w.raw(step_json(step));
  }
  w.end().key("stepsNext");
  if (page.next && page.next->ordinal)
    w.num(std::uint64_t{*page.next->ordinal});
  else
    w.null();
  std::string corrupt;
  for (const auto& memo : page.runs) {
    if (memo.corrupt) corrupt = memo.detail.empty() ? "a record cannot be read" : memo.detail;
  }
  put_text(w, "corrupt", corrupt);
}

} // namespace

void put_row_members(json::writer& w, const run_row& row) {
  w.key("runId").str(to_string(row.id)).key("workflow").str(row.workflow);
  w.key("status").str(to_string(row.status));
  put_text(w, "reason", row.reason);
  put_text(w, "installationId", row.installation);
  w.key("correlationId").str(row.correlation);
  put_text(w, "parentId", row.parent.is_nil() ? "" : to_string(row.parent));
  put_time(w, "requestedAt", row.requested_at);
  put_time(w, "startedAt", row.started_at);
  put_time(w, "endedAt", row.ended_at);
  w.key("error");
  json::put(w, row.error);
}

std::string to_json(const run_view& v, with_steps steps) {
  const auto& row = *v.found.row;
  json::writer w;
  w.obj();
  put_row_members(w, row);
  put_text(w, "traceparent", row.traceparent);
  w.key("codeVersion").num(std::uint64_t{row.code_version});
  w.key("crashes").num(std::uint64_t{row.crashes});
  w.key("input").raw(v.found.input);
  std::string outcome = "null";
  if (v.found.ended) {
    if (auto how = json::decode<run_outcome>(v.found.ended->data)) outcome = how->result.text;
  }
  w.key("result").raw(outcome);
  w.key("waits").raw(waits_json(v.look));
  put_text(w, "host", v.look ? v.look->host : "");
  if (v.backfill) put_backfill_members(w, v);
  if (steps == with_steps::yes) put_steps(w, v.steps);
  return w.end().take();
}

} // namespace sluice::api
