#include "tests/support/story.hpp"
#include "workflows/errors.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct timed {
  catalog flows;
  timestamp gate{}; ///< the step "work" waits until then
  slot_use slots = slot_use::keep;
  world* clock = nullptr;
  int worked = 0;

  timed() {
    flows
      .add("timed",
           [this](context& ctx, std::uint64_t rest_ms) -> task<void> {
             auto work = [this] {
               if (clock->now() < gate) throw wait_until{gate, "gate", slots};
               ++worked;
             };
             co_await ctx.step("work", work);
             co_await ctx.sleep("rest", duration{static_cast<std::int64_t>(rest_ms)});
           })
      .limit(1)
      .start_within(duration{2000})
      .finish_within(duration{60'000});
  }
};

std::string ending_of(const world& w, run_id run) {
  auto outcome = w.outcome(run);
  if (!outcome) return "none";
  return outcome->error ? outcome->error->code : "completed";
}

} // namespace

TEST_CASE("timeouts: a run ends when `finish` is over, counted from its first step (P12)") {
  timed t;
  world w{t.flows};
  t.clock = &w;
  REQUIRE(w.boot());
  auto run = w.start("timed", "600000");
  w.pass_time(duration{59'999});
  CHECK(ending_of(w, run->run) == "none");
  w.pass_time(duration{1});
  CHECK(ending_of(w, run->run) == "timed_out");
  CHECK(w.row(run->run)->why == ending::time_out);
}

TEST_CASE("timeouts: waiting behind a limit is no failure (P12)") {
  timed t;
  world w{t.flows};
  t.clock = &w;
  REQUIRE(w.boot());
  REQUIRE(w.start("timed", "50000"));
  auto second = w.start("timed", "50000");
  w.pass_time(duration{99'000});
  CHECK(ending_of(w, second->run) == "none");
  w.pass_time(duration{1000});
  CHECK(ending_of(w, second->run) == "completed");
}

TEST_CASE("timeouts: `finish` survives a restart (P12)") {
  timed t;
  world w{t.flows};
  t.clock = &w;
  REQUIRE(w.boot());
  auto run = w.start("timed", "600000");
  w.pass_time(duration{30'000});
  w.crash();
  REQUIRE(w.boot());
  w.pass_time(duration{29'999});
  CHECK(ending_of(w, run->run) == "none");
  w.pass_time(duration{2});
  CHECK(ending_of(w, run->run) == "timed_out");
}

TEST_CASE("timeouts: time at a gate does not count, also over a restart (P12)") {
  const bool crash = GENERATE(false, true);
  const auto slots = GENERATE(slot_use::keep, slot_use::give_back);
  timed t;
  t.slots = slots;
  world w{t.flows};
  t.clock = &w;
  REQUIRE(w.boot());
  const auto begin = w.now();
  t.gate = begin + duration{100'000};
  auto run = w.start("timed", "600000");
  w.pass_time(duration{50'000});
  if (crash) {
    w.crash();
    REQUIRE(w.boot());
  }
  w.pass_time(duration{50'000});
  CHECK(t.worked == 1);
  CHECK(ending_of(w, run->run) == "none");
  w.pass_time(duration{59'990});
  CHECK(ending_of(w, run->run) == "none");
  w.pass_time(duration{20});
  CHECK(ending_of(w, run->run) == "timed_out");
}

TEST_CASE("timeouts: after a restart the time at an earlier gate still does not count (P12)") {
  timed t;
  world w{t.flows};
  t.clock = &w;
  REQUIRE(w.boot());
  t.gate = w.now() + duration{100'000};
  auto run = w.start("timed", "600000");
  w.pass_time(duration{110'000});
  w.crash();
  REQUIRE(w.boot());
  w.pass_time(duration{49'990});
  CHECK(ending_of(w, run->run) == "none");
  w.pass_time(duration{20});
  CHECK(ending_of(w, run->run) == "timed_out");
}

TEST_CASE("timeouts: work after a gate counts, however long its own call takes (P12)") {
  catalog flows;
  timestamp gate{};
  world* clock = nullptr;
  flows
    .add("call",
         [&](context& ctx, std::string) -> task<void> {
           auto call = [&]() -> task<void> {
             if (clock->now() < gate) throw wait_until{gate, "gate", slot_use::give_back};
             http_request r;
             r.url = "http://slow/";
             co_await ctx.http(r);
           };
           co_await ctx.step("call", call);
         })
    .limit(1)
    .finish_within(duration{10'000});
  world_options o;
  o.network_delay = std::chrono::hours{1};
  world w{flows, o};
  clock = &w;
  REQUIRE(w.boot());
  gate = w.now() + duration{30'000};
  auto run = w.start("call", R"("")");
  w.pass_time(duration{39'990});
  CHECK(ending_of(w, run->run) == "none");
  w.pass_time(duration{20});
  CHECK(ending_of(w, run->run) == "timed_out");
  CHECK(w.requests_aborted == 1);
}

TEST_CASE("timeouts: a run that was admitted and does not come to its first step (P12)") {
  timed t;
  world w{t.flows};
  t.clock = &w;
  REQUIRE(w.boot());
  request_later(w, keyed_request("timed", "1", "k"));
  REQUIRE(crash_when(w, [&] { return run_of(w, "k").has_value(); }));
  w.fail_reads_after_boot = 5;
  REQUIRE(w.boot());
  w.pass_time(duration{10'000});
  CHECK(ending_of(w, *run_of(w, "k")) == "timed_out");
  CHECK(t.worked == 0);
}
