#include "tests/support/story.hpp"
#include "workflows/errors.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

/// Runs whose work kills the process: the test pulls the plug as soon as `deadly` is set.
struct minefield {
  bool deadly = false;
  int kills = 0;
  catalog flows;

  void explode() {
    deadly = true;
    ++kills;
  }

  minefield() {
    // Where the mine lies: in the first step, the second, between steps, in a retry, or nowhere.
    flows.add("mine", [this](context& ctx, std::string where) -> task<void> {
      auto first = [&] {
        if (where == "first") explode();
      };
      auto second = [&](const attempt& a) {
        if (where == "retry" && a.number() == 0) throw std::runtime_error{"once more"};
        if (where == "second" || where == "retry") explode();
      };
      co_await ctx.step("first", first);
      if (where == "between") explode();
      if (where == "waits") co_await ctx.wait("hold", "go", "x");
      co_await ctx.step("second", second);
    });
  }

  /// Boots, and is killed as often as a run does that; false: it does not happen any more.
  bool dies_again(world& w) {
    deadly = false;
    REQUIRE(w.boot_slowly());
    const auto end = w.now() + duration{120'000};
    if (!run_until(w, [&] { return deadly || w.now() > end; })) return false;
    if (!deadly) return false;
    w.crash();
    return true;
  }
};

} // namespace

TEST_CASE("crashes: a run that keeps killing its process is parked, its neighbours are not (I17)") {
  const std::string where = GENERATE("first", "second", "between", "retry");
  minefield m;
  world w{m.flows};
  REQUIRE(w.boot());
  auto neighbour = w.start("mine", R"("waits")");
  request_later(w, keyed_request("mine", json::encode(where), "k"));
  REQUIRE(crash_when(w, [&] { return m.deadly; }));
  int deaths = 1;
  while (m.dies_again(w)) {
    ++deaths;
    REQUIRE(deaths < 15);
  }
  auto run = *run_of(w, "k");
  INFO(where);
  CHECK(deaths == 10);
  CHECK(w.row(run)->status == run_status::parked);
  CHECK(w.row(run)->reason.find("crashes: the process died 10 times") == 0);
  CHECK(w.row(neighbour->run)->status == run_status::running);
  CHECK(w.row(neighbour->run)->crashes == 0);
  REQUIRE(w.publish("go", "x"));
  CHECK(w.row(neighbour->run)->status == run_status::completed);
  // A person who says go on gets ten more.
  REQUIRE(w.resume(run));
  CHECK(w.row(run)->crashes == 0);
}

TEST_CASE("crashes: from the third on a run starts alone, and the others first (4.7)") {
  minefield m;
  world w{m.flows};
  REQUIRE(w.boot());
  for (const char* key : {"a", "b"})
    request_later(w, keyed_request("mine", R"("first")", key));
  REQUIRE(crash_when(w, [&] { return m.kills == 2; }));
  for (int i = 0; i < 2; ++i)
    REQUIRE(m.dies_again(w));
  // Both have been there at three crashes or more: one at a time.
  m.deadly = false;
  const auto before = m.kills;
  REQUIRE(w.boot_slowly());
  REQUIRE(run_until(w, [&] { return m.deadly; }));
  CHECK(m.kills == before + 1);
  w.crash();
}

TEST_CASE("crashes: a suspect that behaves lets the next one start (4.7)") {
  bool tame = false;
  int finished = 0;
  bool deadly = false;
  catalog flows;
  flows.add("wild", [&](context& ctx, std::string) -> task<void> {
    auto work = [&] {
      if (!tame)
        deadly = true;
      else
        ++finished;
    };
    co_await ctx.step("work", work);
  });
  world w{flows};
  REQUIRE(w.boot());
  for (const char* key : {"a", "b", "c"})
    request_later(w, keyed_request("wild", R"("")", key));
  REQUIRE(crash_when(w, [&] { return deadly; }));
  for (int i = 0; i < 4; ++i) {
    deadly = false;
    REQUIRE(w.boot_slowly());
    REQUIRE(run_until(w, [&] { return deadly; }));
    w.crash();
  }
  tame = true;
  REQUIRE(w.boot());
  w.pass_time(duration{60'000});
  CHECK(finished == 3);
  for (const char* key : {"a", "b", "c"})
    CHECK(w.row(*run_of(w, key))->status == run_status::completed);
}

TEST_CASE("crashes: a run that merely waits is not counted, however often (4.7)") {
  minefield m;
  world w{m.flows};
  REQUIRE(w.boot());
  auto run = w.start("mine", R"("waits")");
  for (int i = 0; i < 20; ++i) {
    w.crash();
    REQUIRE(w.boot());
    w.pass_time(duration{10});
  }
  CHECK(w.row(run->run)->crashes == 0);
  CHECK(w.row(run->run)->status == run_status::running);
  REQUIRE(w.publish("go", "x"));
  CHECK(w.row(run->run)->status == run_status::completed);
}

TEST_CASE("crashes: an ordered shutdown does not count (4.7)") {
  catalog flows;
  flows.add("call", [](context& ctx, std::string) -> task<void> {
    auto call = [&]() -> task<void> {
      http_request r;
      r.url = "http://slow/";
      auto answer = co_await ctx.http(r);
      if (!answer.error.empty()) throw std::runtime_error{answer.error};
    };
    for (;;)
      co_await ctx.step("call", call);
  });
  world w{flows};
  w.network = [](const http_request&) {
    http_response r;
    r.status = 200;
    return r;
  };
  REQUIRE(w.boot());
  auto run = w.start("call", R"("")");
  for (int i = 0; i < 20; ++i) {
    w.pass_time(duration{12});
    CHECK(w.shut_down().drained);
    REQUIRE(w.boot());
  }
  CHECK(w.row(run->run)->crashes == 0);
  w.crash();
  REQUIRE(w.boot());
  w.settle();
  CHECK(w.row(run->run)->crashes == 1);
}

TEST_CASE("crashes: a committed result takes the count back (4.7)") {
  int deaths = 0;
  bool deadly = false;
  catalog flows;
  // Every step kills the process twice before it succeeds: eight deaths, never three in a row.
  flows.add("bumpy", [&](context& ctx, std::string) -> task<int> {
    for (int n = 0; n < 4; ++n) {
      auto work = [&, n] {
        if (deaths < 2 * (n + 1)) {
          ++deaths;
          deadly = true;
        }
      };
      co_await ctx.step("bump", work);
    }
    co_return deaths;
  });
  world_options o;
  o.crashes_max = 3;
  world w{flows, o};
  REQUIRE(w.boot());
  request_later(w, keyed_request("bumpy", R"("")", "k"));
  for (int i = 0; i < 20 && result_of(w, "k").empty(); ++i) {
    deadly = false;
    const auto end = w.now() + duration{60'000};
    run_until(w, [&] { return deadly || w.now() > end || !result_of(w, "k").empty(); });
    if (!deadly) break;
    w.crash();
    REQUIRE(w.boot_slowly());
  }
  CHECK(result_of(w, "k") == "8");
}
