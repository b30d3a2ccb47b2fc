#include "api/backfill_json.hpp"

#include "api/run_json.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <chrono>

namespace sluice::api {

namespace {

/// Events that a unit made of what it was served, and how many of them the gateway has.
std::uint64_t produced(const unit_counts& c) {
  return c.served - std::min(c.served, c.filtered);
}

double per_second(std::uint64_t events, timestamp from, timestamp to) {
  const auto ms = (to - from).count();
  if (from == never || ms <= 0) return 0;
  return static_cast<double>(events) * 1000 / static_cast<double>(ms);
}

/// As long per page as until now; `never`: nothing is known.
timestamp eta_of(const unit_row& u) {
  if (is_terminal(u.status) || u.pages == 0 || u.pages_expected <= u.pages) return never;
  if (u.started_at == never || u.updated_at <= u.started_at) return never;
  return u.updated_at + (u.updated_at - u.started_at) * (u.pages_expected - u.pages) / u.pages;
}

/// The wait that keeps a unit: not the work that it does.
const run_wait* wait_of(const unit_view& u) {
  if (!u.look || !u.look->live) return nullptr;
  for (const auto& w : u.look->waits) {
    if (w.reason != "work") return &w;
  }
  return nullptr;
}

/// A row is written with each page; the host knows sooner that a unit waits for a slot or recovers.
run_status status_of(const unit_view& u) {
  return u.look && u.look->live ? u.look->status : u.row.status;
}

timestamp since_of(const run_view& v) {
  if (v.backfill->result) return v.backfill->result->since;
  // The same for all units (B5), and each keeps it.
  return v.backfill->units.empty() ? never : v.backfill->units.front().row.since;
}

void put_counts(json::writer& w, const unit_counts& c) {
  w.key("counts");
  json::put(w, c);
}

/// Once it has ended: does it balance, and the digest over its delivery ids (I10).
void put_certificate(json::writer& w, bool ended, const unit_counts& c, std::string_view digest) {
  w.key("certificate");
  if (!ended) {
    w.null();
    return;
  }
  w.obj().key("balances").boolean(c.balances());
  put_counts(w, c);
  put_text(w, "digest", digest);
  w.end();
}

} // namespace

std::string unit_json(const unit_view& u) {
  const auto& row = u.row;
  json::writer w;
  w.obj().key("unit").str(row.unit).key("entityType").str(row.entity);
  w.key("resourceId").str(row.resource.id);
  put_text(w, "resourceName", row.resource.name);
  w.key("status").str(to_string(status_of(u))).key("success").boolean(row.success());
  w.key("eventsProduced").num(produced(row.counts));
  w.key("eventsDispatched").num(row.counts.delivered);
  w.key("pagesProcessed").num(std::uint64_t{row.pages}).key("pagesExpected");
  if (row.pages_expected == 0)
    w.null();
  else
    w.num(std::uint64_t{row.pages_expected});
  w.key("eventsPerSecond");
  w.num(per_second(row.counts.delivered, row.started_at,
                   row.ended_at == never ? row.updated_at : row.ended_at));
  put_time(w, "eta", eta_of(row));
  put_counts(w, row.counts);
  w.key("waiting");
  if (const auto* wait = wait_of(u)) {
    w.obj().key("reason").str(wait->reason);
    put_time(w, "until", wait->until);
    w.end();
  } else {
    w.null();
  }
  put_time(w, "startedAt", row.started_at);
  put_time(w, "updatedAt", row.updated_at);
  put_time(w, "endedAt", row.ended_at);
  put_text(w, "note", row.note);
  w.key("error");
  json::put(w, row.error);
  put_certificate(w, is_terminal(row.status), row.counts, row.digest);
  w.key("run").str(to_string(u.from));
  put_text(w, "entityRun", row.run);
  put_text(w, "retryOf", row.retry_of);
  return w.end().take();
}

std::string totals_json(const backfill_totals& t) {
  json::writer w;
  w.obj().key("units").num(t.units).key("unitsLive").num(t.live);
  w.key("unitsCompleted").num(t.completed);
  w.key("unitsFailed").num(t.units - std::min(t.units, t.live + t.completed));
  w.key("pagesProcessed").num(t.pages);
  w.key("eventsProduced").num(produced(t.counts));
  w.key("eventsDispatched").num(t.counts.delivered);
  w.key("eventsPerSecond").num(per_second(t.counts.delivered, t.from, t.to));
  put_counts(w, t.counts);
  return w.end().take();
}

void put_backfill_members(json::writer& w, const run_view& v) {
  const auto& b = *v.backfill;
  w.key("provider").str(b.input.provider).key("orgId").str(b.input.org);
  w.key("depth").num(std::uint64_t{b.input.depth_days}).key("entityTypes");
  json::put(w, b.input.entities);
  w.key("retryOf");
  json::put(w, b.input.retry);
  put_time(w, "since", since_of(v));
  w.key("totals").raw(totals_json(b.totals)).key("units").arr();
  for (const auto& u : b.units)
    w.raw(unit_json(u));
  w.end().key("unitsMore").boolean(b.more);
  put_certificate(w, b.result.has_value(), b.totals.counts, b.result ? b.result->digest : "");
}

} // namespace sluice::api
