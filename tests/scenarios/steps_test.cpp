#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace sluice;

namespace {

struct step_log {
  std::map<std::string, int> executions; ///< of the work, by step
  std::map<std::string, std::set<std::string>> keys;
  int seen = 0; ///< the workflow itself went past its second step

  std::string note(const attempt& a) {
    keys[std::string{a.step()}].insert(a.idempotency_key());
    return std::string{a.step()} + " #" + std::to_string(++executions[std::string{a.step()}]);
  }
};

task<std::string> three_steps(context& ctx, step_log& log) {
  auto work = [&](const attempt& a) { return log.note(a); };
  std::string all = co_await ctx.step("first", work);
  all += ", " + co_await ctx.step("second", work);
  ++log.seen;
  all += ", " + co_await ctx.step("first", work);
  co_return all;
}

} // namespace

TEST_CASE("steps: a result is in the journal before the workflow goes on (P1)") {
  step_log log;
  catalog flows;
  flows.add("steps", [&](context& ctx, std::string) { return three_steps(ctx, log); });
  world w{flows};
  REQUIRE(w.boot());
  request_later(w, keyed_request("steps", R"("")", "k"));
  REQUIRE(run_until(w, [&] { return log.seen == 1; }));
  auto run = run_of(w, "k");
  REQUIRE(run);
  CHECK(w.steps(*run).size() == 2);
  CHECK(step_named(w, *run, "second")->payload == R"("second #1")");
}

TEST_CASE("steps: a committed step is read after a crash, not run again (P1, I2)") {
  step_log log;
  catalog flows;
  flows.add("steps", [&](context& ctx, std::string) { return three_steps(ctx, log); });
  world w{flows};
  REQUIRE(w.boot());
  request_later(w, keyed_request("steps", R"("")", "k"));
  REQUIRE(crash_when(w, [&] { return log.seen == 1; }));
  REQUIRE(w.boot());
  w.settle();
  CHECK(log.seen == 2);
  CHECK(log.executions["second"] == 1);
  // The third ask is "first" again: asked before the crash, no result, so asked once more.
  CHECK(log.executions["first"] == 3);
  CHECK(result_of(w, "k") == R"("first #1, second #1, first #3")");
}

TEST_CASE("steps: killed at every message, one result per step (P1, I2, I9)") {
  step_log log;
  catalog flows;
  flows.add("steps", [&](context& ctx, std::string) { return three_steps(ctx, log); });
  story s{.flows = flows,
          .begin =
            [&](world& w) {
              if (!w.disk->head) log = {};
              request_later(w, keyed_request("steps", R"("")", "k"));
            },
          .done = [](const world& w) { return !result_of(w, "k").empty(); },
          .check =
            [&](const world& w) {
              auto run = run_of(w, "k");
              std::map<std::uint32_t, int> results;
              for (const auto& r : w.history(*run))
                ++results[r.ordinal];
              CHECK(results == std::map<std::uint32_t, int>{{0, 1}, {1, 1}, {2, 1}});
              // Two steps of one name are two keys; each attempt of one has the same.
              CHECK(log.keys["first"].size() == 2);
              CHECK(log.keys["second"].size() == 1);
            }};
  CHECK(killed_at_every_message(s) > 20);
}

TEST_CASE("steps: keys of different runs differ (I9)") {
  step_log log;
  catalog flows;
  flows.add("steps", [&](context& ctx, std::string) { return three_steps(ctx, log); });
  world w{flows};
  REQUIRE(w.boot());
  REQUIRE(w.start("steps", R"("")"));
  REQUIRE(w.start("steps", R"("")"));
  CHECK(log.keys["second"].size() == 2);
  CHECK(log.keys["first"].size() == 4);
}

TEST_CASE("steps: a result that is too large fails its step, not the node (I18)") {
  catalog flows;
  flows.add("large", [](context& ctx, std::string) -> task<void> {
    auto large = [] { return std::string(4000, 'x'); };
    co_await ctx.step("large", large);
  });
  world_options o;
  o.limits.result_bytes_max = 1000;
  world w{flows, o};
  REQUIRE(w.boot());
  auto run = w.start("large", R"("")");
  REQUIRE(run);
  REQUIRE(w.outcome(run->run));
  CHECK(w.outcome(run->run)->status == run_status::failed);
  CHECK(w.outcome(run->run)->error->code == "too_large");
}

TEST_CASE("steps: at the limit of steps the run parks with that reason (F3, I18)") {
  catalog flows;
  int executed = 0;
  flows.add("endless", [&](context& ctx, std::string) -> task<void> {
    auto work = [&] { ++executed; };
    for (;;)
      co_await ctx.step("again", work);
  });
  world_options o;
  o.limits.steps_max = 50;
  world w{flows, o};
  REQUIRE(w.boot());
  auto run = w.start("endless", R"("")");
  REQUIRE(run);
  CHECK(executed == 50);
  CHECK(w.row(run->run)->status == run_status::parked);
  CHECK(w.row(run->run)->reason == "too many steps: the limit is 50");
}

TEST_CASE("steps: one that must not be repeated is parked when its outcome is unknown (4.7)") {
  int executed = 0;
  int neighbours = 0;
  catalog flows;
  flows.add("charge", [&](context& ctx, std::string) -> task<int> {
    auto charge = [&] { return ++executed; };
    auto other = [&] { return ++neighbours; };
    auto [a, b] =
      co_await ctx.all(ctx.step("charge", charge, {.retry = {}, .repeatable = false}),
                       ctx.step("charge-too", other, {.retry = {}, .repeatable = false}));
    co_return a + b;
  });
  world w{flows};
  REQUIRE(w.boot());
  request_later(w, keyed_request("charge", R"("")", "k"));
  REQUIRE(crash_when(w, [&] { return executed == 1; }));
  REQUIRE(w.boot());
  w.pass_time(duration{60'000});
  auto run = run_of(w, "k");
  CHECK(executed == 1);
  CHECK(w.row(*run)->status == run_status::parked);
  CHECK(w.row(*run)->reason.find("undecided: step 'charge'") == 0);
  // A person says: repeat it.
  REQUIRE(w.resume(*run));
  CHECK(executed == 2);
  CHECK(neighbours == 2);
  CHECK(w.row(*run)->status == run_status::completed);
}
