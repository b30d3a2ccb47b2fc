#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

std::string heard(const std::optional<event>& e) {
  return e ? e->data : "nothing";
}

/// Begins when it is released, waits once, says what it heard.
task<std::string> listener(context& ctx, std::uint64_t timeout_ms) {
  co_await ctx.wait("begin", "go", "x");
  std::optional<duration> timeout;
  if (timeout_ms != 0) timeout = duration{static_cast<std::int64_t>(timeout_ms)};
  co_return heard(co_await ctx.wait("hear", "told", "x", timeout));
}

task<std::string> twice(context& ctx, std::string) {
  auto first = co_await ctx.wait("first", "told", "x");
  auto second = co_await ctx.wait("second", "told", "x", duration{10'000});
  co_return heard(first) + "," + heard(second);
}

task<std::string> side_by_side(context& ctx, std::string) {
  auto [a, b, c] = co_await ctx.all(ctx.wait("a", "told", "x", duration{10'000}),
                                    ctx.wait("b", "told", "x", duration{10'000}),
                                    ctx.wait("c", "told", "y", duration{10'000}));
  co_return heard(a) + "," + heard(b) + "," + heard(c);
}

catalog waiters() {
  catalog flows;
  flows.add("listener", listener);
  flows.add("twice", twice);
  flows.add("side-by-side", side_by_side);
  return flows;
}

std::string said(const world& w, const result<run_accepted>& run) {
  auto outcome = w.outcome(run->run);
  return outcome ? outcome->result.text : "still running";
}

} // namespace

TEST_CASE("wait: an event that came before the wait was registered is taken (P6)") {
  auto flows = waiters();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("listener", "0");
  REQUIRE(w.publish("told", "x", "1"));
  CHECK(said(w, run) == "still running");
  REQUIRE(w.publish("go", "x"));
  CHECK(said(w, run) == R"("1")");
}

TEST_CASE("wait: an event that comes later, and only one of its subject, is taken (P6)") {
  auto flows = waiters();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("listener", "0");
  REQUIRE(w.publish("go", "x"));
  w.pass_time(std::chrono::hours{100});
  REQUIRE(w.publish("told", "y", "1"));
  REQUIRE(w.publish("untold", "x", "2"));
  CHECK(said(w, run) == "still running");
  CHECK(w.look(run->run).waits.front().reason == "event told x");
  REQUIRE(w.publish("told", "x", "3"));
  CHECK(said(w, run) == R"("3")");
}

TEST_CASE("wait: an event from before the run is not taken, also after park and resume (P6)") {
  auto flows = waiters();
  world w{flows};
  REQUIRE(w.boot());
  REQUIRE(w.publish("told", "x", "0"));
  auto run = w.start("twice", R"("")");
  CHECK(said(w, run) == "still running");
  w.crash();
  REQUIRE(w.boot());
  w.settle();
  CHECK(said(w, run) == "still running");
  REQUIRE(w.publish("told", "x", "1"));
  REQUIRE(w.publish("told", "x", "2"));
  CHECK(said(w, run) == R"("1,2")");
}

TEST_CASE("wait: two waits of one subject take two events in order (P6)") {
  auto flows = waiters();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("twice", R"("")");
  REQUIRE(w.publish("told", "x", "1"));
  CHECK(said(w, run) == "still running");
  REQUIRE(w.publish("told", "x", "2"));
  CHECK(said(w, run) == R"("1,2")");
}

TEST_CASE("wait: parallel waits of one subject never take the same event (P6, P8)") {
  auto flows = waiters();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("side-by-side", R"("")");
  REQUIRE(w.publish("told", "x", "1"));
  REQUIRE(w.publish("told", "x", "2"));
  REQUIRE(w.publish("told", "y", "3"));
  CHECK(said(w, run) == R"("1,2,3")");
}

TEST_CASE("wait: nothing when none came in time, and one that comes later is not taken (P6)") {
  auto flows = waiters();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("listener", "5000");
  REQUIRE(w.publish("go", "x"));
  w.pass_time(duration{4999});
  CHECK(said(w, run) == "still running");
  w.pass_time(duration{1});
  CHECK(said(w, run) == R"("nothing")");
}

TEST_CASE("wait: an event in time while the node was at work is taken at the last look (P6)") {
  auto flows = waiters();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("listener", "5000");
  REQUIRE(w.publish("go", "x"));
  w.pass_time(duration{3000});
  REQUIRE(w.publish("told", "x", "1"));
  CHECK(said(w, run) == R"("1")");
}

TEST_CASE("wait: an event that came in time counts after a crash past the time-out (P6)") {
  auto flows = waiters();
  world w{flows};
  REQUIRE(w.boot());
  request_later(w, keyed_request("listener", "5000", "k"));
  w.settle();
  REQUIRE(w.publish("go", "x"));
  w.pass_time(duration{3000});
  publish_later(w, "told", "x", "1", "t");
  // The event is committed, the run has not heard of it.
  REQUIRE(crash_when(w, [&] { return !w.events("told").empty(); }));
  w.pass_time(duration{60'000});
  REQUIRE(w.boot());
  w.pass_time(duration{10});
  CHECK(result_of(w, "k") == R"("1")");
}

TEST_CASE("wait: an event after the time-out is not taken after a crash either (P6)") {
  auto flows = waiters();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("listener", "5000");
  REQUIRE(w.publish("go", "x"));
  w.crash();
  w.pass_time(duration{60'000});
  REQUIRE(w.boot());
  // Before the run has been told that its time is over.
  publish_later(w, "told", "x", "1", "t");
  w.pass_time(duration{10});
  CHECK(said(w, run) == R"("nothing")");
}

TEST_CASE("wait: killed at every message, events are taken once and in order (P6)") {
  auto flows = waiters();
  story s{.flows = flows,
          .begin =
            [](world& w) {
              request_later(w, keyed_request("twice", R"("")", "k"));
              // A client that waits for its run before it tells.
              if (!run_of(w, "k")) run_until(w, [&] { return run_of(w, "k").has_value(); });
              publish_later(w, "told", "x", "1", "t1");
              if (w.events("told").empty()) run_until(w, [&] { return !w.events("told").empty(); });
              publish_later(w, "told", "x", "2", "t2");
            },
          .done = [](const world& w) { return !result_of(w, "k").empty(); },
          .check =
            [](const world& w) {
              CHECK(result_of(w, "k") == R"("1,2")");
              CHECK(w.events("told").size() == 2);
            }};
  CHECK(killed_at_every_message(s) > 10);
}

TEST_CASE("wait: reads of the store that fail are tried again (F10)") {
  auto flows = waiters();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("listener", "5000");
  w.store->failing_reads = 2;
  REQUIRE(w.publish("go", "x"));
  w.settle();
  REQUIRE(w.publish("told", "x", "1"));
  w.pass_time(duration{4000});
  CHECK(said(w, run) == R"("1")");
  auto late = w.start("listener", "5000");
  REQUIRE(w.publish("go", "x"));
  w.pass_time(duration{4999});
  w.store->failing_reads = 1;
  w.pass_time(duration{3000});
  CHECK(said(w, late) == R"("nothing")");
}
