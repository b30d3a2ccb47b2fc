#include "tests/support/story.hpp"
#include "workflows/errors.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("all: wall time is that of the longest, not the sum (P8)") {
  catalog flows;
  flows.add("child", [](context& ctx, std::uint64_t) -> task<int> {
    co_await ctx.sleep("rest", duration{4000});
    co_return 4;
  });
  flows.add("race", [](context& ctx, std::string) -> task<int> {
    auto slow = [&ctx](const attempt&) -> task<int> {
      http_request r;
      r.url = "http://provider/slow";
      co_await ctx.http(r);
      co_return 3;
    };
    auto [a, b, c, d] = co_await ctx.all(ctx.step("call", slow), ctx.sleep("rest", duration{5000}),
                                         ctx.wait("hear", "never", "x", duration{2000}),
                                         ctx.invoke<int>("child", "child", 1u));
    co_return a + d + (c ? 100 : 0);
  });
  world_options o;
  o.network_delay = duration{3000};
  world w{flows, o};
  w.network = [](const http_request&) {
    http_response r;
    r.status = 200;
    return r;
  };
  REQUIRE(w.boot());
  const auto begin = w.now();
  auto run = w.start("race", R"("")");
  REQUIRE(w.pass_until([&] { return w.outcome(run->run).has_value(); }, duration{60'000}));
  CHECK(w.outcome(run->run)->result.text == "7");
  CHECK(w.now() - begin == duration{5000});
}

TEST_CASE("all: the first failure in argument order is thrown, after all have settled (P8)") {
  int finished = 0;
  catalog flows;
  flows.add("fail", [&](context& ctx, std::string) -> task<std::string> {
    auto late = [&]() -> int { throw retry_after{duration{500}, "first argument"}; };
    auto early = [&]() -> int { throw non_retriable{"early", "second argument"}; };
    auto fine = [&] { return ++finished; };
    std::string seen;
    try {
      co_await ctx.all(ctx.step("late", late), ctx.step("early", early), ctx.step("fine", fine));
    } catch (const step_failed& e) {
      seen = e.what();
    }
    co_return seen;
  });
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("fail", R"("")");
  w.pass_time(duration{1000});
  CHECK(!w.outcome(run->run));
  w.pass_time(duration{5000});
  CHECK(w.outcome(run->run)->result.text == R"("first argument")");
  CHECK(finished == 1);
}

TEST_CASE("all: any number of one kind, killed at every message (P8, I2)") {
  catalog flows;
  flows.add("many", [](context& ctx, std::uint64_t count) -> task<std::uint64_t> {
    auto square = [](std::uint64_t n) { return [n] { return n * n; }; };
    std::vector<decltype(ctx.step("", square(0)))> steps;
    for (std::uint64_t n = 1; n <= count; ++n)
      steps.push_back(ctx.step("square-" + std::to_string(n), square(n)));
    std::uint64_t sum = 0;
    for (auto n : co_await ctx.all(std::move(steps)))
      sum += n;
    auto [one, nothing] =
      co_await ctx.all(ctx.step("one", square(1)), ctx.sleep("rest", duration{50}));
    co_return sum + one;
  });
  story s{.flows = flows,
          .begin = [](world& w) { request_later(w, keyed_request("many", "5", "k")); },
          .done = [](const world& w) { return !result_of(w, "k").empty(); },
          .check = [](const world& w) { CHECK(result_of(w, "k") == "56"); }};
  CHECK(killed_at_every_message(s) > 15);
}

TEST_CASE("all: none at all goes on at once (P8)") {
  catalog flows;
  flows.add("none", [](context& ctx, std::string) -> task<std::size_t> {
    auto work = [] { return 1; };
    std::vector<decltype(ctx.step("", work))> none;
    auto results = co_await ctx.all(std::move(none));
    co_return results.size();
  });
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("none", R"("")");
  CHECK(w.outcome(run->run)->result.text == "0");
}
