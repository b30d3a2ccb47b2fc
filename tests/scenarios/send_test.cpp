#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

task<void> teller(context& ctx, std::string to) {
  auto work = [] { return 1; };
  co_await ctx.step("before", work);
  co_await ctx.send("tell", {{"told", to, "1"}, {"told", to, "2"}});
  co_await ctx.sleep("rest", duration{100});
  co_await ctx.send("tell", {{"told", to, "3"}});
}

} // namespace

TEST_CASE("send: killed at every message, each event is in the log once, in order (P5)") {
  catalog flows;
  flows.add("teller", teller);
  story s{.flows = flows,
          .begin = [](world& w) { request_later(w, keyed_request("teller", R"("me")", "k")); },
          .done = [](const world& w) { return !result_of(w, "k").empty(); },
          .check =
            [](const world& w) {
              std::string told;
              for (const auto& e : w.events("told")) {
                CHECK(e.subject == "me");
                CHECK(e.run == *run_of(w, "k"));
                told += e.data;
              }
              CHECK(told == "123");
              CHECK(w.events(event_kind::run_requested).size() == 1);
              CHECK(w.events(event_kind::run_ended).size() == 1);
            }};
  CHECK(killed_at_every_message(s) > 20);
}

TEST_CASE("send: an event of a workflow ends the wait of another, with its correlation (P5)") {
  catalog flows;
  flows.add("teller", teller);
  flows.add("listener", [](context& ctx, std::string me) -> task<std::string> {
    auto heard = co_await ctx.wait("hear", "told", me);
    co_return heard->data + " " + heard->correlation;
  });
  world w{flows};
  REQUIRE(w.boot());
  auto listener = w.start("listener", R"("me")");
  run_request request = keyed_request("teller", R"("me")", {});
  request.correlation = "order 7";
  REQUIRE(w.start(request));
  w.settle();
  REQUIRE(w.outcome(listener->run));
  CHECK(w.outcome(listener->run)->result.text == R"("1 order 7")");
}

TEST_CASE("send: the engine's own kinds cannot be sent by a workflow (P5)") {
  catalog flows;
  flows.add("forger", [](context& ctx, std::string kind) -> task<void> {
    co_await ctx.send("forge", {{kind, "x", "null"}});
  });
  world w{flows};
  REQUIRE(w.boot());
  for (const char* kind : {"run.requested", "run.ended", "run.cancelled", "step.failed"}) {
    auto run = w.start("forger", json::encode(std::string{kind}));
    REQUIRE(run);
    REQUIRE(w.outcome(run->run));
    CHECK(w.outcome(run->run)->error->code == "bad_input");
    CHECK(!w.publish(kind, "x"));
  }
  CHECK(w.death().empty());
}
