#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct sleeper {
  catalog flows;
  std::vector<timestamp> woke;
  world* clock = nullptr;

  sleeper() {
    flows.add("nap", [this](context& ctx, std::uint64_t ms) -> task<std::uint64_t> {
      co_await ctx.sleep("nap", duration{static_cast<std::int64_t>(ms)});
      woke.push_back(clock->now());
      auto work = [] { return 1; };
      co_await ctx.step("after", work);
      co_return ms;
    });
    flows.add("alarm", [this](context& ctx, timestamp at) -> task<void> {
      co_await ctx.sleep("until", at);
      woke.push_back(clock->now());
    });
  }
};

/// The rescan, which finds what memory forgot, is not what these tests are about.
world_options without_rescan() {
  world_options o;
  o.rescan = std::chrono::hours{10'000};
  return o;
}

} // namespace

TEST_CASE("sleep: wakes when it is time, not early, not twice (P4, I12)") {
  sleeper s;
  world w{s.flows, without_rescan()};
  s.clock = &w;
  REQUIRE(w.boot());
  const auto begin = w.now();
  REQUIRE(w.start("nap", "5000"));
  REQUIRE(w.start("alarm", std::to_string(to_millis(begin + duration{7000}))));
  w.pass_time(duration{4999});
  CHECK(s.woke.empty());
  w.pass_time(duration{60'000});
  CHECK(s.woke == std::vector<timestamp>{begin + duration{5000}, begin + duration{7000}});
}

TEST_CASE("sleep: one that is over already does not wait (P4)") {
  sleeper s;
  world w{s.flows};
  s.clock = &w;
  REQUIRE(w.boot());
  REQUIRE(w.start("alarm", "1000"));
  w.pass_time(duration{0});
  CHECK(s.woke.size() == 1);
  REQUIRE(w.start("nap", "0"));
  w.pass_time(duration{0});
  CHECK(s.woke.size() == 2);
}

TEST_CASE("sleep: survives a crash and ends at the time it was meant to (P4)") {
  sleeper s;
  world w{s.flows, without_rescan()};
  s.clock = &w;
  REQUIRE(w.boot());
  const auto begin = w.now();
  auto run = w.start("nap", "5000");
  w.pass_time(duration{2000});
  w.crash();
  w.pass_time(duration{1000});
  REQUIRE(w.boot());
  w.pass_time(duration{1999});
  CHECK(s.woke.empty());
  w.pass_time(duration{1});
  CHECK(s.woke == std::vector<timestamp>{begin + duration{5000}});
  CHECK(w.row(run->run)->status == run_status::completed);
}

TEST_CASE("sleep: one that ended while the node was down wakes at boot (P4)") {
  sleeper s;
  world w{s.flows, without_rescan()};
  s.clock = &w;
  REQUIRE(w.boot());
  auto run = w.start("nap", "5000");
  w.crash();
  w.pass_time(duration{20'000});
  REQUIRE(w.boot());
  w.settle();
  w.pass_time(duration{1});
  CHECK(w.row(run->run)->status == run_status::completed);
}

TEST_CASE("sleep: timers that memory forgot are found by the rescan (F6, I12)") {
  sleeper s;
  world_options o;
  o.lose_timers = true;
  world w{s.flows, o};
  s.clock = &w;
  REQUIRE(w.boot());
  const auto begin = w.now();
  auto run = w.start("nap", "5000");
  w.pass_time(duration{60'000});
  REQUIRE(s.woke.size() == 1);
  CHECK(s.woke.front() >= begin + duration{5000});
  CHECK(s.woke.front() <= begin + duration{5000} + o.rescan);
  CHECK(w.row(run->run)->status == run_status::completed);
  CHECK(w.disk->runs.at(run->run).wake_at == never);
}

TEST_CASE("sleep: killed at every message, it sleeps once and not too short (P4, I12)") {
  sleeper s;
  timestamp asked{};
  story tale{.flows = s.flows,
             .begin =
               [&](world& w) {
                 s.clock = &w;
                 if (w.disk->head == 0) {
                   s.woke.clear();
                   asked = w.now();
                 }
                 request_later(w, keyed_request("nap", "5000", "k"));
               },
             .done = [](const world& w) { return !result_of(w, "k").empty(); },
             .check =
               [&](const world& w) {
                 int ends = 0;
                 for (const auto& r : w.history(*run_of(w, "k")))
                   if (r.name == "nap" && r.status == step_status::done) ++ends;
                 CHECK(ends == 1);
                 for (auto at : s.woke)
                   CHECK(at >= asked + duration{5000});
               }};
  CHECK(killed_at_every_message(tale) > 20);
}

TEST_CASE("sleep: a wall clock that jumps back does not lengthen it (I20)") {
  sleeper s;
  world w{s.flows, without_rescan()};
  s.clock = &w;
  REQUIRE(w.boot());
  auto run = w.start("nap", "5000");
  w.pass_time(duration{1000});
  w.crash();
  w.jump_wall_clock(-duration{std::chrono::hours{24}});
  REQUIRE(w.boot());
  const auto boot = w.now();
  w.pass_time(duration{4999});
  CHECK(s.woke.empty());
  w.pass_time(duration{10});
  CHECK(s.woke == std::vector<timestamp>{boot + duration{5000}});
  CHECK(w.row(run->run)->status == run_status::completed);
}

TEST_CASE("sleep: a wall clock that jumps forward is time that passed (I20)") {
  sleeper s;
  world w{s.flows, without_rescan()};
  s.clock = &w;
  REQUIRE(w.boot());
  auto run = w.start("nap", "5000");
  w.crash();
  w.jump_wall_clock(std::chrono::hours{24});
  REQUIRE(w.boot());
  w.pass_time(duration{1});
  CHECK(w.row(run->run)->status == run_status::completed);
}

TEST_CASE("sleep: after a clock that went back, lost timers are still found (I20, F6)") {
  sleeper s;
  world_options o;
  o.lose_timers = true;
  world w{s.flows, o};
  s.clock = &w;
  REQUIRE(w.boot());
  auto run = w.start("nap", "5000");
  w.crash();
  w.jump_wall_clock(-duration{std::chrono::hours{24}});
  REQUIRE(w.boot());
  w.pass_time(duration{5000} + o.rescan);
  CHECK(w.row(run->run)->status == run_status::completed);
}
