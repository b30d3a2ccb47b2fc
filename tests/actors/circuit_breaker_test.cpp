#include "tests/support/at_gates.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

const pass_request call{"github", "inst-1", {}, {}};

pass_request call_of(std::string service, std::string installation) {
  return {std::move(service), std::move(installation), {}, {}};
}

/// Passes for `n` that all fail.
void fail(gate_client& client, const pass_request& what, int n) {
  for (int i = 0; i < n; ++i) {
    auto answer = client.ask_now(what);
    REQUIRE(answer);
    REQUIRE(answer->granted);
    client.finish(what, answer->granted->permit, pass_outcome::failure);
  }
}

bool is_wait(const std::optional<pass_answered>& a) {
  return a && !a->granted && !a->failed && a->wait_until != never;
}

} // namespace

TEST_CASE("circuit breaker: five failures in a row open it, callers hear until when (H1, H3)") {
  world w{no_flows};
  REQUIRE(w.boot());
  gate_client client{w};
  fail(client, call, 4);
  client.finish(call, 0, pass_outcome::success);
  fail(client, call, 5);
  const auto opened = w.now();
  auto answer = client.ask_now(call);
  REQUIRE(is_wait(answer));
  CHECK(answer->wait_until == opened + 30s);
  CHECK(answer->reason == "circuit open: github");
}

TEST_CASE("circuit breaker: failures that come together count each (H4)") {
  world w{no_flows};
  REQUIRE(w.boot());
  gate_client client{w};
  std::vector<token> asked;
  for (int i = 0; i < 5; ++i)
    asked.push_back(client.ask(call));
  w.settle();
  for (auto id : asked)
    client.finish(call, client.answer(id)->granted->permit, pass_outcome::failure);
  CHECK(is_wait(client.ask_now(call)));
}

TEST_CASE("circuit breaker: once it is open exactly one probe goes out (H1, I15)") {
  world w{no_flows};
  REQUIRE(w.boot());
  gate_client client{w};
  fail(client, call, 5);
  const auto until = client.ask_now(call)->wait_until;
  w.pass_time(until - w.now());
  std::vector<token> asked;
  for (int i = 0; i < 30; ++i)
    asked.push_back(client.ask(call));
  w.pass_time(500ms);
  std::optional<pass> probe;
  int answered = 0;
  for (auto id : asked)
    if (auto a = client.answer(id)) {
      ++answered;
      REQUIRE(a->granted);
      probe = a->granted;
    }
  REQUIRE(answered == 1);
  CHECK(probe->probe);

  SECTION("its success lets the others through") {
    client.finish(call, probe->permit, pass_outcome::success);
    for (auto id : asked) {
      REQUIRE(client.answer(id));
      CHECK(client.answer(id)->granted);
    }
  }
  SECTION("its failure opens it again for all (H1)") {
    client.finish(call, probe->permit, pass_outcome::failure);
    const auto again = w.now() + 30s;
    int waits = 0;
    for (auto id : asked)
      if (is_wait(client.answer(id))) {
        ++waits;
        CHECK(client.answer(id)->wait_until == again);
      }
    CHECK(waits == 29);
  }
  SECTION("those that cannot be held are told to come back (H3)") {
    w.pass_time(2s);
    int waits = 0;
    for (auto id : asked)
      waits += is_wait(client.answer(id)) ? 1 : 0;
    CHECK(waits == 29);
    CHECK(!client.ask_now(call));
  }
  SECTION("a probe that is not sent goes to the next") {
    client.finish(call, probe->permit, pass_outcome::not_sent);
    int granted = 0;
    for (auto id : asked)
      if (auto a = client.answer(id)) granted += a->granted ? 1 : 0;
    CHECK(granted == 2);
  }
  SECTION("a probe that nobody tells about counts as failed") {
    w.pass_time(3min);
    auto next = client.ask_now(call);
    REQUIRE(next);
    REQUIRE(next->granted);
    CHECK(next->granted->probe);
  }
  SECTION("outcomes of what was under way before change nothing (H4)") {
    client.finish_many("github", pass_outcome::success, 10);
    client.finish_many("github", pass_outcome::failure, 10);
    CHECK(!client.ask_now(call));
  }
}

TEST_CASE("circuit breaker: its state survives a restart (H4)") {
  world w{no_flows};
  REQUIRE(w.boot());
  gate_client client{w};
  SECTION("open") {
    fail(client, call, 5);
    const auto until = client.ask_now(call)->wait_until;
    w.pass_time(10s);
    w.crash();
    REQUIRE(w.boot());
    CHECK(client.ask_now(call)->wait_until == until);
    w.pass_time(until - w.now());
    auto probe = client.ask_now(call);
    REQUIRE(probe->granted);
    CHECK(probe->granted->probe);
  }
  SECTION("half open, with its probe under way") {
    fail(client, call, 5);
    w.pass_time(31s);
    auto probe = client.ask_now(call);
    REQUIRE(probe->granted);
    w.crash();
    REQUIRE(w.boot());
    auto next = client.ask_now(call);
    REQUIRE(next->granted);
    CHECK(next->granted->probe);
    CHECK(!client.ask_now(call));
  }
  SECTION("how many failures there were") {
    fail(client, call, 4);
    w.crash();
    REQUIRE(w.boot());
    fail(client, call, 1);
    CHECK(is_wait(client.ask_now(call)));
  }
  SECTION("open, and the clock went back by a day (I20)") {
    fail(client, call, 5);
    w.crash();
    w.jump_wall_clock(-24h);
    REQUIRE(w.boot());
    CHECK(client.ask_now(call)->wait_until <= w.now() + 30s);
  }
}

TEST_CASE("circuit breaker: each service has its own, with its own thresholds (H5)") {
  world_options o;
  o.gates.circuits["vercel"] = {2, 5s, 1};
  world w{no_flows, o};
  REQUIRE(w.boot());
  gate_client client{w};
  const auto vercel = call_of("vercel", "inst-1");
  fail(client, vercel, 2);
  auto answer = client.ask_now(vercel);
  REQUIRE(is_wait(answer));
  CHECK(answer->wait_until <= w.now() + 5s);
  CHECK(client.ask_now(call)->granted);
  CHECK(client.ask_now(call_of("unknown", "inst-1"))->granted);
}

TEST_CASE("circuit breaker: tenants take turns when it closes (B22)") {
  world w{no_flows};
  REQUIRE(w.boot());
  gate_client client{w};
  fail(client, call, 5);
  w.pass_time(30s);
  auto probe = client.ask_now(call);
  REQUIRE(probe->granted);
  for (int i = 0; i < 10; ++i)
    client.ask(call_of("github", "large"));
  const auto small = client.ask(call_of("github", "small"));
  w.settle();
  client.order.clear();
  client.finish(call, probe->granted->permit, pass_outcome::success);
  REQUIRE(client.order.size() == 11);
  CHECK(client.order[1] == small);
}

TEST_CASE(
  "circuit breaker: the delivery of the gateway reports groups and hears of changes (B15)") {
  world w{no_flows};
  REQUIRE(w.boot());
  gate_client delivery{w};
  const auto post = call_of("gateway", {});
  delivery.watch("gateway");
  REQUIRE(delivery.changes.size() == 1);
  CHECK(delivery.changes[0].status == circuit_status::closed);
  delivery.finish_many("gateway", pass_outcome::success, 970);
  delivery.finish_many("gateway", pass_outcome::failure, 30);
  REQUIRE(delivery.changes.size() == 2);
  CHECK(delivery.changes[1].status == circuit_status::open);
  CHECK(delivery.changes[1].until == w.now() + 30s);
  // What was in flight fails too: that is no news.
  delivery.finish_many("gateway", pass_outcome::failure, 30);
  CHECK(delivery.changes.size() == 2);
  w.pass_time(30s);
  REQUIRE(delivery.changes.size() == 3);
  CHECK(delivery.changes[2].status == circuit_status::half_open);
  auto probe = delivery.ask_now(post);
  REQUIRE(probe->granted);
  CHECK(probe->granted->probe);
  delivery.finish(post, probe->granted->permit, pass_outcome::success);
  REQUIRE(delivery.changes.size() == 4);
  CHECK(delivery.changes[3].status == circuit_status::closed);
}

TEST_CASE("circuit breaker: a store that cannot be read holds callers, and is read again (F10)") {
  world w{no_flows};
  REQUIRE(w.boot());
  gate_client client{w};
  w.store->failing_reads = 1;
  const auto id = client.ask(call);
  w.settle();
  CHECK(!client.answer(id));
  w.pass_time(1100ms);
  REQUIRE(client.answer(id));
  CHECK(client.answer(id)->granted);
}
