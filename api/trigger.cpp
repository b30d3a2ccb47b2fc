#include "api/trigger.hpp"

#include "api/input.hpp"
#include "api/run_view.hpp"
#include "api/runs.hpp"
#include "messages/backfill.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::api {

namespace {

constexpr std::size_t id_bytes_max = 200;
constexpr std::size_t types_max = 50;
/// A retry that ended before it had a certificate may be tried again, so often.
constexpr unsigned retries_without_trace = 20;

constexpr std::array<std::uint64_t, 3> depths{7, 30, 90};
constexpr std::array<std::string_view, 3> policies{"queue", "reject", "merge"};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

void check_known(input& in, const backfill_request& r, const std::vector<known_provider>& known) {
  if (r.provider.empty()) return;
  const auto provider = std::ranges::find(known, r.provider, &known_provider::name);
  if (provider == known.end()) {
    std::vector<std::string> names;
    for (const auto& p : known)
      names.push_back(p.name);
    return in.wrong("provider", "must be one of " + listed(names));
  }
  for (const auto& type : r.entities) {
    if (std::ranges::find(provider->entities, type) != provider->entities.end()) continue;
    in.wrong("entityTypes",
             "'" + type + "' is none of " + r.provider + "'s: " + listed(provider->entities));
  }
}

run_request request_for(const call& c, const backfill_request& what) {
  run_request r;
  r.workflow = backfill_run_name;
  r.input = json::encode(what);
  r.tenant = what.org;
  r.installation = what.installation;
  r.correlation = c.correlation;
  r.traceparent = c.traceparent;
  return r;
}

/// A retry of one unit on its way.
struct retrying {
  call_ptr c;
  backfill_request what;
  unsigned tries = 0;
};

/// The key makes two who ask at once one run. When that run has ended and left no certificate, it
/// is the key of the past, and the next one counts.
void start_retry(api_state& s, const std::shared_ptr<retrying>& r) {
  auto wanted = request_for(*r->c, r->what);
  wanted.idempotency_key =
    "retry/" + r->what.retry->run + "/" + r->what.retry->unit + "/" + std::to_string(r->tries);
  ask(s, r->c, s.core.event_log, s.config.answer_timeout, request_runs{{std::move(wanted)}},
      [&s, r](const runs_accepted& accepted) {
        const auto& run = accepted.runs.at(0);
        if (run.existing && is_terminal(run.status) && ++r->tries < retries_without_trace)
          return start_retry(s, r);
        json::writer w;
        w.obj();
        put_accepted_members(w, run);
        w.key("retryOf");
        json::put(w, r->what.retry);
        r->c->answer(202, w.end().take());
      });
}

void retry_seen(api_state& s, const call_ptr& c, const run_view& seen) {
  const auto& row = *seen.found.row;
  const auto& unit = c->params.at(1);
  const auto none = http::problem{404, "JOB_NOT_FOUND", "the run has no such unit"};
  if (!seen.backfill) return c->fail(none);
  const auto& units = seen.backfill->units;
  const auto known =
    std::ranges::find_if(units, [&](const unit_view& u) { return u.row.unit == unit; });
  if (known == units.end()) return c->fail(none);
  if (!is_terminal(row.status)) return c->fail({409, "CONFLICT", "the run has not ended"});
  if (known->row.success()) return c->fail({409, "CONFLICT", "the unit is a success"});
  if (!is_terminal(known->row.status) && known->from != row.id) {
    return c->fail(
      {409, "JOB_ALREADY_RUNNING", "run " + to_string(known->from) + " is retrying this unit"});
  }
  auto r = std::make_shared<retrying>(retrying{c, seen.backfill->input});
  r->what.retry = unit_retry{to_string(known->from), unit};
  start_retry(s, r);
}

} // namespace

void trigger_backfill(api_state& s, const call_ptr& c) {
  auto in = input::of_body(c->request.body);
  backfill_request what;
  what.installation = in.text("installationId", id_bytes_max);
  what.provider = in.text("provider", id_bytes_max);
  what.org = in.text("orgId", id_bytes_max);
  what.depth_days = static_cast<std::uint32_t>(in.one_of("depth", what.depth_days, depths));
  what.entities = in.texts("entityTypes", id_bytes_max, types_max);
  const auto policy = in.one_of("onConflict", policies.front(), policies);
  const auto key = in.text_or_none("idempotencyKey", id_bytes_max);
  check_known(in, what, s.config.providers);
  if (auto bad = in.problem()) return c->fail(*bad);

  auto wanted = request_for(*c, what);
  wanted.idempotency_key = key;
  if (policy == "reject") wanted.on_conflict = conflict_policy::reject;
  if (policy == "merge") wanted.on_conflict = conflict_policy::merge;
  ask(s, c, s.core.event_log, s.config.answer_timeout, request_runs{{std::move(wanted)}},
      [c](const runs_accepted& accepted) {
        const auto& run = accepted.runs.at(0);
        json::writer w;
        w.obj();
        put_accepted_members(w, run);
        c->answer(202, w.key("existing").boolean(run.existing).end().take());
      });
}

void retry_unit(api_state& s, const call_ptr& c) {
  const auto run = run_of(*c);
  if (run.is_nil()) return;
  if (auto bad = input::of_body(c->request.body).problem()) return c->fail(*bad);
  view_run(s, {{run}, {}, 1}, [&s, c](const result<run_view>& seen) {
    if (!seen) return c->fail(seen.error());
    retry_seen(s, c, *seen);
  });
}

} // namespace sluice::api
