#include "base/hash.hpp"
#include "tests/support/at_gates.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

const pass_request core{"github", "inst-1", "core", {}};

world_options limited_to(std::uint32_t limit, duration length) {
  world_options o;
  o.gates.rate = {limit, length, 75min};
  return o;
}

rate_report retry_at(timestamp t) {
  rate_report r;
  r.blocked_until = t;
  return r;
}

/// Asks, and says how it went at once.
void use(gate_client& client, const pass_request& what, pass_outcome outcome, rate_report rate) {
  auto answer = client.ask_now(what);
  REQUIRE(answer);
  REQUIRE(answer->granted);
  client.finish(what, answer->granted->permit, outcome, rate);
}

} // namespace

TEST_CASE("rate limiter: never above the limit in any window, and 95 % of it used (B14, I14)") {
  world w{no_flows, limited_to(400, 10min)};
  REQUIRE(w.boot());
  gate_fleet fleet{w, 20, core, duration{40}};
  w.pass_time(60min);
  CHECK(densest_window(fleet.sent, 10min) <= 400);
  CHECK(fleet.sent.size() >= 6 * 400 * 95 / 100);
  CHECK(fleet.failures == 0);
}

TEST_CASE("rate limiter: never above the limit across crashes either (H7, I14)") {
  world w{no_flows, limited_to(400, 10min)};
  REQUIRE(w.boot());
  gate_fleet fleet{w, 20, core, duration{400}};
  const std::size_t crashes = 23;
  for (std::size_t i = 0; i < crashes; ++i) {
    // Many in the burst at the beginning of a window, others between.
    w.pass_time(i % 4 == 0 ? duration{137'000} : duration{1'713});
    w.crash();
    w.pass_time(duration{211});
    REQUIRE(w.boot());
    fleet.restart();
  }
  w.pass_time(40min);
  CHECK(densest_window(fleet.sent, 10min) <= 400);
  // A crash costs what was reserved and not used: chunks of 4, or what 20 workers asked for.
  const std::size_t whole_windows = 5;
  CHECK(fleet.sent.size() + crashes * 24 >= whole_windows * 400 * 95 / 100);
}

TEST_CASE("rate limiter: never above the limit when it dies at any message (H7, I14)") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    world w{no_flows, limited_to(60, 10min)};
    REQUIRE(w.boot());
    gate_fleet fleet{w, 10, core, duration{50}};
    auto draw = seed;
    for (int crash = 0; crash < 10; ++crash) {
      draw = mix64(draw, seed);
      w.store->slow_polls = draw % 3;
      for (auto left = draw % 97; left > 0; --left)
        if (!w.run_one(mix64(draw, left))) w.next_moment();
      w.crash();
      REQUIRE(w.boot());
      fleet.restart();
    }
    w.pass_time(30min);
    CHECK(densest_window(fleet.sent, 10min) <= 60);
    CHECK(fleet.sent.size() >= 2 * 57);
  }
}

TEST_CASE("rate limiter: a restart grants no burst (H7)") {
  world w{no_flows, limited_to(100, 10min)};
  REQUIRE(w.boot());
  {
    gate_fleet fleet{w, 5, core, duration{10}};
    w.pass_time(1min);
    REQUIRE(fleet.sent.size() == 100);
  }
  for (int i = 0; i < 3; ++i) {
    w.crash();
    REQUIRE(w.boot());
    gate_client client{w};
    auto answer = client.ask_now(core);
    REQUIRE(answer);
    CHECK(!answer->granted);
    CHECK(answer->reason == "rate limit: core");
    CHECK(answer->wait_until > w.now() + 8min);
  }
}

TEST_CASE("rate limiter: all units of a credential wait on one Retry-After (B14)") {
  world w{no_flows, limited_to(4000, 1h)};
  REQUIRE(w.boot());
  gate_client client{w};
  const auto until = w.now() + 17min;
  use(client, core, pass_outcome::limited, retry_at(until));
  for (int i = 0; i < 30; ++i) {
    auto answer = client.ask_now(core);
    REQUIRE(answer);
    CHECK(!answer->granted);
    CHECK(answer->wait_until == until);
  }
  SECTION("also after a restart") {
    w.crash();
    REQUIRE(w.boot());
    CHECK(client.ask_now(core)->wait_until == until);
  }
  SECTION("and go on after it") {
    w.pass_time(until - w.now());
    CHECK(client.ask_now(core)->granted);
  }
}

TEST_CASE("rate limiter: those that are held when a Retry-After comes hear of it (B14)") {
  world w{no_flows, limited_to(1, 61s)}; // one a minute: others are held or wait
  REQUIRE(w.boot());
  gate_client client{w};
  auto first = client.ask_now(core);
  REQUIRE(first->granted);
  const auto held = client.ask(core);
  w.settle();
  client.finish(core, first->granted->permit, pass_outcome::limited, retry_at(w.now() + 30min));
  REQUIRE(client.answer(held));
  CHECK(!client.answer(held)->granted);
}

TEST_CASE("rate limiter: a secondary limit holds for every bucket of the installation (B14)") {
  world w{no_flows, limited_to(4000, 1h)};
  REQUIRE(w.boot());
  gate_client client{w};
  auto search = core;
  search.bucket = "search";
  auto neighbour = core;
  neighbour.installation = "inst-2";
  use(client, search, pass_outcome::success, {});
  use(client, neighbour, pass_outcome::success, {});
  auto secondary = retry_at(w.now() + 5min);
  secondary.all_buckets = true;
  use(client, core, pass_outcome::limited, secondary);
  CHECK(client.ask_now(core)->wait_until == secondary.blocked_until);
  CHECK(client.ask_now(search)->wait_until == secondary.blocked_until);
  CHECK(client.ask_now(neighbour)->granted);
}

TEST_CASE("rate limiter: waits for the provider's reset when little is left (B14)") {
  world w{no_flows, limited_to(4000, 1h)};
  REQUIRE(w.boot());
  gate_client client{w};
  rate_report r;
  r.limit = 5000;
  r.remaining = 499;
  r.reset_at = w.now() + 20min;
  use(client, core, pass_outcome::success, r);
  CHECK(client.ask_now(core)->wait_until == r.reset_at + 1s);
}

TEST_CASE("rate limiter: a smaller limit of the provider holds for all (B14)") {
  world w{no_flows, limited_to(400, 10min)};
  REQUIRE(w.boot());
  gate_fleet fleet{w, 5, core, duration{10}};
  fleet.rate.limit = 100;
  w.pass_time(25min);
  CHECK(densest_window(fleet.sent, 10min) <= 90);
  CHECK(fleet.sent.size() >= 2 * 90);
}

TEST_CASE("rate limiter: keys are isolated (H7)") {
  world w{no_flows, limited_to(1, 1h)};
  REQUIRE(w.boot());
  gate_client client{w};
  // Names that would be the same if they were only put together.
  const std::vector<pass_request> all = {
    {"github", "1", "core", {}},
    {"github", "2", "core", {}},
    {"github", "1", "search", {}},
    {"vercel", "1", "core", {}},
    {"github", "1/core", "x", {}},
    {"github", "1", "core/x", {}},
    {"github", std::string(500, 'a'), "core", {}},
    {"github", std::string(500, 'a') + "b", "core", {}},
  };
  for (const auto& what : all)
    CHECK(client.ask_now(what)->granted);
  for (const auto& what : all)
    CHECK(!client.ask_now(what)->granted);
}

TEST_CASE("rate limiter: what was not sent is free again (H7)") {
  world w{no_flows, limited_to(1, 1h)};
  REQUIRE(w.boot());
  gate_client client{w};
  auto first = client.ask_now(core);
  REQUIRE(first->granted);
  CHECK(!client.ask_now(core)->granted);
  client.finish(core, first->granted->permit, pass_outcome::not_sent);
  CHECK(client.ask_now(core)->granted);
}

TEST_CASE("rate limiter: a permit whose end nobody tells counts, and not for ever (I14)") {
  world w{no_flows, limited_to(1, 1min)};
  REQUIRE(w.boot());
  gate_client client{w};
  REQUIRE(client.ask_now(core)->granted);
  w.pass_time(9min);
  CHECK(!client.ask_now(core)->granted);
  w.pass_time(3min);
  CHECK(client.ask_now(core)->granted);
}

TEST_CASE("rate limiter: holds a short wait itself and answers a long one (H7)") {
  world w{no_flows, limited_to(60, 61s)}; // slots of a good second
  REQUIRE(w.boot());
  gate_client client{w};
  for (int i = 0; i < 60; ++i)
    use(client, core, pass_outcome::success, {});
  const auto began = w.now();
  auto answer = client.ask_now(core);
  REQUIRE(answer);
  CHECK(!answer->granted);
  w.pass_time(answer->wait_until - w.now() - 1500ms);
  const auto held = client.ask(core);
  w.pass_time(100ms);
  CHECK(!client.answer(held));
  w.pass_time(1500ms);
  REQUIRE(client.answer(held));
  CHECK(client.answer(held)->granted);
  CHECK(w.now() - began < 65s);
}

TEST_CASE("rate limiter: a cost of several takes several (H7)") {
  world w{no_flows, limited_to(10, 1h)};
  REQUIRE(w.boot());
  gate_client client{w};
  auto dear = core;
  dear.cost = 4;
  CHECK(client.ask_now(dear)->granted);
  CHECK(client.ask_now(dear)->granted);
  CHECK(!client.ask_now(dear)->granted);
  CHECK(client.ask_now(core)->granted);
}

TEST_CASE("rate limiter: while nothing can be stored nobody passes (H7, I19)") {
  world w{no_flows, limited_to(100, 1h)};
  REQUIRE(w.boot());
  gate_client client{w};
  w.disk->quota_bytes = 1;
  const auto id = client.ask(core);
  w.pass_time(1900ms);
  CHECK(!client.answer(id));
  w.pass_time(200ms);
  REQUIRE(client.answer(id));
  CHECK(!client.answer(id)->granted);
  CHECK(client.answer(id)->wait_until > w.now());
  w.disk->quota_bytes = 0;
  w.pass_time(5s);
  CHECK(client.ask_now(core)->granted);
}

TEST_CASE("rate limiter: a row that cannot be read starts with nothing left (I14)") {
  world w{no_flows, limited_to(10, 1h)};
  REQUIRE(w.boot());
  gate_client client{w};
  use(client, core, pass_outcome::success, {});
  w.pass_time(10s);
  w.crash();
  for (auto& [key, value] : w.disk->tables[static_cast<std::size_t>(table::limit)])
    value = "{]";
  REQUIRE(w.boot());
  CHECK(!client.ask_now(core)->granted);
}
