#include "messages/backfill.hpp"
#include "rules/coverage.hpp"
#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

/// Stands in for a backfill: under way until `go` is told for its installation.
task<backfill_result> wait_for_go(context& ctx, backfill_request in) {
  co_await ctx.wait("wait", "go", in.installation, std::chrono::hours{1});
  co_return backfill_result{};
}

struct desk {
  catalog flows;
  std::unique_ptr<world> w;

  desk() {
    flows.add(std::string{backfill_run_name}, wait_for_go)
      .limit(1, [](const backfill_request& r) { return r.installation; })
      .covers(covers);
    w = std::make_unique<world>(flows);
    REQUIRE(w->boot());
  }

  result<run_accepted> trigger(const run_request& r) { return w->start(r); }
  void restart() {
    w->crash();
    REQUIRE(w->boot());
  }
};

run_request asked(conflict_policy policy, std::uint32_t depth = 30,
                  std::vector<std::string> types = {}, std::string installation = "i-1") {
  run_request r;
  r.workflow = backfill_run_name;
  r.input = json::encode(
    backfill_request{installation, "github", "o-1", depth, std::move(types), std::nullopt});
  r.tenant = "o-1";
  r.installation = std::move(installation);
  r.on_conflict = policy;
  return r;
}

constexpr auto queue = conflict_policy::queue;
constexpr auto reject = conflict_policy::reject;
constexpr auto merge = conflict_policy::merge;

std::vector<result<runs_accepted>> all_at_once(world& w, const std::vector<run_request>& requests) {
  std::vector<result<runs_accepted>> answers;
  for (const auto& r : requests)
    w.ask_with<runs_accepted>(
      w.core().event_log, request_runs{{r}},
      [&](result<runs_accepted> answer) { answers.push_back(std::move(answer)); });
  w.settle();
  return answers;
}

} // namespace

TEST_CASE("trigger: two at once with reject are one run and one 409 (B1)") {
  desk d;
  const auto answers = all_at_once(*d.w, {asked(reject), asked(reject)});
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]);
  CHECK(refused(answers[1], errc::already_running));
  CHECK(d.w->disk->runs.size() == 1);
}

TEST_CASE("trigger: many at once with merge are one run (B1)") {
  desk d;
  const auto answers =
    all_at_once(*d.w, {asked(merge, 90), asked(merge, 30), asked(merge, 7, {"issue"})});
  REQUIRE(answers.size() == 3);
  for (const auto& a : answers) {
    REQUIRE(a);
    CHECK(a->runs.front().run == answers.front()->runs.front().run);
  }
  CHECK(!answers[0]->runs.front().existing);
  CHECK(answers[2]->runs.front().existing);
  CHECK(d.w->disk->runs.size() == 1);
}

TEST_CASE("trigger: one that is being queued counts for a reject at the same time (B1)") {
  desk d;
  const auto answers = all_at_once(*d.w, {asked(queue), asked(reject), asked(merge)});
  REQUIRE(answers.size() == 3);
  std::size_t runs = 0;
  std::size_t refusals = 0;
  for (const auto& a : answers) {
    runs += a && !a->runs.front().existing ? 1 : 0;
    refusals += refused(a, errc::already_running) ? 1 : 0;
  }
  CHECK(runs == 1);
  CHECK(refusals == 1);
}

TEST_CASE("trigger: merge queues when window or types are not covered (B1)") {
  desk d;
  const auto first = d.trigger(asked(merge, 30, {"issue"}));
  REQUIRE(first);
  const auto wider = d.trigger(asked(merge, 90, {"issue"}));
  REQUIRE(wider);
  CHECK(!wider->existing);
  const auto other = d.trigger(asked(merge, 30, {"release"}));
  REQUIRE(other);
  CHECK(!other->existing);
  // The queued one covers it as well.
  const auto again = d.trigger(asked(merge, 90, {"issue"}));
  REQUIRE(again);
  CHECK(again->run == wider->run);
  CHECK(again->status == run_status::pending);
}

TEST_CASE("trigger: queue waits behind the run under way (B1, B8)") {
  desk d;
  const auto first = d.trigger(asked(queue));
  const auto second = d.trigger(asked(queue));
  REQUIRE(second);
  CHECK(second->run != first->run);
  CHECK(d.w->row(first->run)->status == run_status::running);
  CHECK(d.w->row(second->run)->status == run_status::pending);
  REQUIRE(d.w->publish("go", "i-1"));
  d.w->pass_time(duration{1000});
  const auto before = *d.w->row(first->run);
  const auto after = *d.w->row(second->run);
  CHECK(before.status == run_status::completed);
  // It was requested before `go` was told, so that is told to it too.
  CHECK(after.status == run_status::completed);
  CHECK(after.started_at >= before.ended_at);
}

TEST_CASE("trigger: installations do not meet, and an ended run rejects nobody (B1)") {
  desk d;
  REQUIRE(d.trigger(asked(reject)));
  CHECK(d.trigger(asked(reject, 30, {}, "i-2")));
  REQUIRE(d.w->publish("go", "i-1"));
  d.w->pass_time(duration{1000});
  CHECK(d.trigger(asked(reject)));
}

TEST_CASE("trigger: after a restart the runs under way are known (B1, I13)") {
  desk d;
  const auto first = d.trigger(asked(queue));
  REQUIRE(first);
  d.restart();
  CHECK(refused(d.trigger(asked(reject)), errc::already_running));
  CHECK(d.trigger(asked(merge))->run == first->run);
  d.restart();
  REQUIRE(d.w->publish("go", "i-1"));
  d.w->pass_time(duration{1000});
  CHECK(d.trigger(asked(reject)));
}

TEST_CASE("trigger: the idempotency key is asked before the policy (B1, I13)") {
  desk d;
  auto keyed = asked(reject);
  keyed.idempotency_key = "k";
  const auto first = d.trigger(keyed);
  REQUIRE(first);
  const auto again = d.trigger(keyed);
  REQUIRE(again);
  CHECK(again->run == first->run);
  auto other = asked(reject);
  other.idempotency_key = "k2";
  CHECK(refused(d.trigger(other), errc::already_running));
  // A refusal keeps no key.
  REQUIRE(d.w->cancel(first->run));
  CHECK(d.trigger(other));
}

TEST_CASE("trigger: a disk that cannot be read is an error, and the next one is judged (B1, F)") {
  desk d;
  REQUIRE(d.trigger(asked(queue)));
  d.restart();
  d.w->store->failing_reads = 1;
  CHECK(!d.trigger(asked(reject)));
  CHECK(refused(d.trigger(asked(reject)), errc::already_running));
}

TEST_CASE("cancel: the live runs of an installation are known, queued ones too (B3)") {
  desk d;
  const auto first = d.trigger(asked(queue));
  const auto second = d.trigger(asked(queue));
  REQUIRE(d.trigger(asked(queue, 30, {}, "i-2")));
  d.restart();
  const find_live_runs question{std::string{backfill_run_name}, "i-1"};
  auto live = d.w->ask<live_runs_found>(d.w->core().event_log, question);
  REQUIRE(live);
  CHECK(live->runs == std::vector<run_id>{first->run, second->run});
  REQUIRE(d.w->cancel(second->run));
  REQUIRE(d.w->cancel(first->run));
  live = d.w->ask<live_runs_found>(d.w->core().event_log, question);
  REQUIRE(live);
  CHECK(live->runs.empty());
}

TEST_CASE("trigger: killed at every message, reject with a key is one run (B1, I1)") {
  catalog flows;
  flows.add(std::string{backfill_run_name}, wait_for_go)
    .limit(1, [](const backfill_request& r) { return r.installation; })
    .covers(covers);
  auto one = asked(reject);
  one.idempotency_key = "a";
  auto other = asked(reject);
  other.idempotency_key = "b";
  story s{.flows = flows,
          .begin =
            [&](world& w) {
              request_later(w, one);
              request_later(w, other);
            },
          .done = [](const world& w) { return !w.disk->runs.empty(); },
          .check = [](const world& w) { CHECK(w.disk->runs.size() == 1); }};
  CHECK(killed_at_every_message(s) > 5);
}
