#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct callers {
  catalog flows;
  int begun = 0;
  int charged = 0;

  callers() {
    auto body = [this](context& ctx, std::uint64_t n) -> task<std::uint64_t> {
      auto call = [&]() -> task<int> {
        ++begun;
        http_request r;
        r.url = "http://provider/";
        auto answer = co_await ctx.http(r);
        co_return answer.status;
      };
      for (std::uint64_t i = 0; i < n; ++i)
        co_await ctx.step("call", call);
      co_return n;
    };
    flows.add("calls", body);
    flows.add("own-calls", body).own_actor("caller");
    flows.add("charge", [this](context& ctx, std::string) -> task<int> {
      auto charge = [this] { return ++charged; };
      co_return co_await ctx.step("charge", charge, {.retry = {}, .repeatable = false});
    });
  }
};

http_response ok(const http_request&) {
  http_response r;
  r.status = 200;
  return r;
}

} // namespace

TEST_CASE("shutdown: steps under way finish, none begins, the next start goes on (4.7)") {
  const char* flow = GENERATE("calls", "own-calls");
  callers c;
  world w{c.flows};
  w.network = ok;
  REQUIRE(w.boot());
  auto run = w.start(flow, "4");
  w.pass_time(duration{7});
  INFO(flow);
  REQUIRE(c.begun == 2);
  CHECK(w.shut_down().drained);
  CHECK(c.begun == 2);
  CHECK(w.steps(run->run).size() == 2);
  CHECK(w.requests_aborted == 0);
  REQUIRE(w.boot());
  w.pass_time(duration{100});
  CHECK(w.outcome(run->run)->result.text == "4");
  CHECK(c.begun == 4);
  CHECK(w.row(run->run)->crashes == 0);
}

TEST_CASE("shutdown: past the deadline it is said, and the cut step runs again (4.7)") {
  callers c;
  world_options o;
  o.network_delay = duration{15'000};
  world w{c.flows, o};
  w.network = ok;
  REQUIRE(w.boot());
  auto run = w.start("calls", "1");
  w.pass_time(duration{1});
  CHECK(!w.shut_down().drained);
  REQUIRE(w.boot());
  w.settle();
  CHECK(w.row(run->run)->crashes == 1);
  w.pass_time(duration{20'000});
  CHECK(w.outcome(run->run)->result.text == "1");
}

TEST_CASE("shutdown: a step that must not be repeated is done or not begun, never unknown (4.7)") {
  callers c;
  for (std::size_t at = 0; at < 40; ++at) {
    c.charged = 0;
    world w{c.flows};
    REQUIRE(w.boot());
    request_later(w, keyed_request("charge", R"("")", "k"));
    for (std::size_t n = 0; n < at; ++n)
      w.run_one(0);
    CHECK(w.shut_down().drained);
    REQUIRE(w.boot());
    request_later(w, keyed_request("charge", R"("")", "k"));
    w.pass_time(duration{1000});
    INFO("told to stop after message " << at);
    CHECK(result_of(w, "k") == "1");
    CHECK(c.charged == 1);
  }
}

TEST_CASE("shutdown: waits and pending runs survive it (P4, P9)") {
  catalog flows;
  flows
    .add(
      "nap",
      [](context& ctx, std::string) -> task<void> { co_await ctx.sleep("nap", duration{60'000}); })
    .limit(1);
  world w{flows};
  REQUIRE(w.boot());
  auto first = w.start("nap", R"("")");
  auto second = w.start("nap", R"("")");
  CHECK(w.shut_down().drained);
  REQUIRE(w.boot());
  w.pass_time(duration{60'000});
  CHECK(w.row(first->run)->status == run_status::completed);
  w.pass_time(duration{60'000});
  CHECK(w.row(second->run)->status == run_status::completed);
}
