#include "api/cancel.hpp"

#include "api/input.hpp"
#include "messages/backfill.hpp"

#include <algorithm>
#include <utility>

namespace sluice::api {

namespace {

constexpr std::size_t installation_bytes_max = 200;
constexpr std::size_t reason_bytes_max = 1000;

/// Cancels on their way: answered when the last one is.
struct cancelling {
  call_ptr c;
  std::size_t open = 0;
  std::vector<run_id> stopped;
  error failed; ///< the last one that is more than "has ended meanwhile"
};

void answer_cancelled(const call& c, const std::vector<run_id>& runs) {
  json::writer w;
  w.obj().key("cancelled").arr();
  for (const auto& run : runs)
    w.str(to_string(run));
  c.answer(202, w.end().end().take());
}

bool is_over(const error& e) {
  if (e.category() != caf::atom("sluice")) return false;
  return code_of(e) == errc::conflict || code_of(e) == errc::not_found;
}

void finish(cancelling& all) {
  if (--all.open > 0) return;
  std::ranges::sort(all.stopped);
  if (!all.stopped.empty()) return answer_cancelled(*all.c, all.stopped);
  if (all.failed) return all.c->fail(all.failed);
  all.c->fail({404, "CANCELLATION_FAILED", "the runs of this installation have ended"});
}

void cancel_all(api_state& s, const call_ptr& c, const std::vector<run_id>& runs,
                const std::string& reason) {
  if (runs.empty()) {
    return c->fail({404, "CANCELLATION_FAILED", "this installation has no backfill under way"});
  }
  auto all = std::make_shared<cancelling>(cancelling{c, runs.size(), {}, {}});
  // Newest first: what is queued shall not begin when the one before it stops.
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    s.self->request(s.core.admission, s.config.cancel_timeout, cancel_run{*run, reason})
      .then(
        [all, id = *run](const run_stopped&) {
          all->stopped.push_back(id);
          finish(*all);
        },
        [all](const error& e) {
          if (!is_over(e)) all->failed = e;
          finish(*all);
        });
  }
}

void cancel_one(api_state& s, const call_ptr& c, cancel_run wanted) {
  auto stopped = [c](const run_stopped& done) { answer_cancelled(*c, done.runs); };
  auto failed = [c](const error& e) {
    const bool ended = e.category() == caf::atom("sluice") && code_of(e) == errc::conflict;
    if (!ended) return c->fail(e);
    // "Nothing to cancel" is a 404 on the surface; the code tells it from an unknown run.
    c->fail({404, "CANCELLATION_FAILED", detail_of(e)});
  };
  s.self->request(s.core.admission, s.config.cancel_timeout, std::move(wanted))
    .then(stopped, failed);
}

} // namespace

void cancel_running(api_state& s, const call_ptr& c) {
  auto in = input::of_body(c->request.body);
  const auto installation = in.text_or_none("installationId", installation_bytes_max);
  const auto run = in.run_or_none("runId");
  const auto reason = in.text_or_none("reason", reason_bytes_max);
  if (installation.empty() && !run) in.wrong("runId", "required, unless installationId is given");
  if (!installation.empty() && run) in.wrong("installationId", "not together with runId");
  if (auto bad = in.problem()) return c->fail(*bad);
  if (run) return cancel_one(s, c, {*run, reason});
  ask(s, c, s.core.event_log, s.config.answer_timeout,
      find_live_runs{std::string{backfill_run_name}, installation},
      [&s, c, reason](const live_runs_found& live) { cancel_all(s, c, live.runs, reason); });
}

} // namespace sluice::api
