#include "tests/support/delivery_desk.hpp"

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

namespace {

/// The largest number under way from now on for a while.
std::size_t open_most_within(delivery_desk& d, duration span) {
  d.open_most = 0;
  d.w->pass_time(span);
  return d.open_most;
}

void send_many(delivery_desk& d, token first, token last, std::size_t events) {
  for (token t = first; t <= last; ++t)
    d.send(t, d.page(static_cast<std::uint32_t>(t), events));
}

} // namespace

TEST_CASE(
  "delivery: a gateway that slows down gets fewer at once, and more when it recovers (B15)") {
  delivery_desk d;
  send_many(d, 1, 60, 1000);
  CHECK(open_most_within(d, 2s) == 30);
  d.delay = 900ms;
  d.w->pass_time(20s);
  const auto slow = open_most_within(d, 5s);
  CHECK(slow <= 10);
  CHECK(slow >= 1);
  d.delay = 20ms;
  d.w->pass_time(3s);
  CHECK(open_most_within(d, 1s) == 30);
}

TEST_CASE("delivery: a gateway that was always slow is not starved (B15)") {
  delivery_desk d;
  d.delay = 2s;
  send_many(d, 1, 60, 1000);
  d.w->pass_time(5min);
  CHECK(open_most_within(d, 10s) == 30);
}

TEST_CASE("delivery: 429 halves what is under way, and no event is given up for it (B15, B18)") {
  delivery_desk d;
  bool busy = true;
  d.status = [&](const std::string&, int) { return busy ? 429 : 202; };
  send_many(d, 1, 4, 100);
  d.w->pass_time(10s);
  CHECK(open_most_within(d, 5s) <= 2);
  d.w->pass_time(10min);
  CHECK(d.heard->delivered.empty());
  busy = false;
  for (token t = 1; t <= 4; ++t) {
    REQUIRE(d.pass_until_delivered(t));
    CHECK(d.heard->delivered[t].refused.empty());
  }
  send_many(d, 5, 30, 100);
  REQUIRE(d.pass_until_delivered(30));
  CHECK(d.open_most == 30);
}

TEST_CASE("delivery: Retry-After is obeyed, pages are told, and told when it goes on (B15, B31)") {
  delivery_desk d;
  d.status = [](const std::string&, int n) { return n == 1 ? 429 : 202; };
  d.retry_after = "120";
  d.send(1, d.page(1, 5));
  d.w->pass_time(1s);
  CHECK(d.calls() == 5);
  const auto told_at = d.w->now();
  d.w->pass_time(118s);
  CHECK(d.calls() == 5);
  REQUIRE(d.heard->stalls.size() == 1);
  CHECK(d.heard->stalls[0].id == 1);
  CHECK(d.heard->stalls[0].reason == "the gateway asks to wait (429)");
  CHECK(d.heard->stalls[0].until > told_at + 118s);
  CHECK(d.card().find("the gateway asks to wait (429) until 2026") != std::string::npos);
  d.retry_after.clear();
  REQUIRE(d.pass_until_delivered(1));
  REQUIRE(d.heard->stalls.size() == 2);
  CHECK(d.heard->stalls[1].until == never);
  CHECK(d.calls() == 10);
}

TEST_CASE("delivery: while the circuit is open the probe is the only call (I15, B15)") {
  delivery_desk d;
  bool down = false;
  d.status = [&](const std::string&, int) { return down ? 0 : 202; };
  send_many(d, 1, 6, 100);
  d.w->pass_time(60ms);
  down = true;
  d.w->pass_time(1s);
  const auto at_opening = d.calls();
  d.open_most = 0;
  d.w->pass_time(1h);
  // A probe every thirty seconds or so, one at a time.
  CHECK(d.calls() - at_opening <= 121);
  CHECK(d.calls() - at_opening >= 100);
  CHECK(d.open_most == 1);
  CHECK(d.card().find("circuit open: gateway, the connection was reset until 2026")
        != std::string::npos);
  REQUIRE(!d.heard->stalls.empty());
  CHECK(d.heard->stalls.back().reason == "circuit open: gateway, the connection was reset");
  down = false;
  for (token t = 1; t <= 6; ++t) {
    REQUIRE(d.pass_until_delivered(t));
    CHECK(d.heard->delivered[t].refused.empty()); // no attempt was used up
    CHECK(bits_in(d.heard->delivered[t].accepted) == 100);
  }
}

TEST_CASE("delivery: nothing moves while the gateway is down, not even a timer (I15)") {
  delivery_desk d;
  d.status = [](const std::string&, int) { return 503; };
  d.send(1, d.page(1, 100));
  d.w->pass_time(10s);
  auto handled = [&] {
    for (const auto& c : d.w->cards())
      if (c.kind == "gateway") return c.handled;
    return std::uint64_t{0};
  };
  const auto before = handled();
  d.w->pass_time(10min);
  // Twenty probes: asked, granted, answered, told of two changes.
  CHECK(handled() - before <= 20 * 8);
}

TEST_CASE("delivery: 401 is nobody's fault but the key's: it waits and says so (B15, B18)") {
  delivery_desk d;
  bool wrong_key = true;
  d.status = [&](const std::string&, int) { return wrong_key ? 401 : 202; };
  d.send(1, d.page(1, 40));
  d.w->pass_time(1h);
  CHECK(d.heard->delivered.empty());
  REQUIRE(!d.heard->stalls.empty());
  CHECK(d.heard->stalls.back().reason
        == "circuit open: gateway, the gateway refuses the API key (401)");
  wrong_key = false;
  REQUIRE(d.pass_until_delivered(1));
  CHECK(d.heard->delivered[1].refused.empty());
}

TEST_CASE("delivery: a probe that is called off gives its permit back (I15, P11)") {
  delivery_desk d;
  bool down = true;
  d.status = [&](const std::string&, int) { return down ? 500 : 202; };
  d.send(1, d.page(1, 20));
  d.send(2, d.page(2, 20));
  d.w->pass_time(10s);
  d.delay = 10s;
  d.open = 0;
  REQUIRE(d.w->pass_until([&] { return d.open == 1; }, 60s));
  d.call_off(1);
  d.call_off(2);
  d.send(3, d.page(3, 5));
  down = false;
  d.delay = 20ms;
  REQUIRE(d.pass_until_delivered(3, 60s));
}

TEST_CASE("delivery: acknowledgements are journaled by groups, the rest soon after (B16)") {
  auto o = delivery_desk::with_gateway();
  o.gateway.ack_delay = 500ms;
  delivery_desk d{o};
  d.status = [](const std::string& id, int) { return id == "a/1/99" ? 429 : 202; };
  d.send(1, d.page(1, 100));
  REQUIRE(d.w->pass_until([&] { return d.answered.size() == 100; }, 10s));
  // Nobody else wants a commit: groups of 24 wait for each other until 56 are together.
  CHECK(d.commits_with_marks() == 1);
  CHECK(bits_in(d.marks()[1]) == 56);
  d.w->pass_time(500ms);
  CHECK(d.commits_with_marks() == 2);
  CHECK(bits_in(d.marks()[1]) == 99);
}

TEST_CASE("delivery: whenever the node dies, fewer than a hundred would go out again (B16)") {
  delivery_desk d;
  const std::size_t events = 400;
  send_many(d, 1, 6, events);
  std::size_t worst = 0;
  std::size_t draws = 0;
  auto at_risk = [&] {
    std::size_t accepted = 0;
    for (const auto& [id, n] : d.answered)
      accepted += d.heard->delivered.contains(static_cast<token>(id[2] - '0')) ? 0 : 1;
    std::size_t durable = 0;
    for (const auto& [page, bitmap] : d.marks())
      durable += d.heard->delivered.contains(page) ? 0 : bits_in(bitmap);
    return accepted - durable + d.open;
  };
  while (d.heard->delivered.size() < 6) {
    while (d.w->run_one(++draws * 7919)) {
      if (draws % 16 == 0) worst = std::max(worst, at_risk());
    }
    worst = std::max(worst, at_risk());
    if (!d.w->next_moment()) break;
  }
  CHECK(d.heard->delivered.size() == 6);
  CHECK(d.calls() == 6 * events);
  CHECK(worst < 100);
  CHECK(worst > 30);
}

TEST_CASE("delivery: after a crash only what was not acknowledged is sent again (B16)") {
  delivery_desk d;
  d.send(1, d.page(1, 300));
  d.w->pass_time(200ms);
  const auto before = d.calls();
  d.w->crash();
  d.boot();
  auto again = d.page(1, 300);
  again->accepted = d.marks()[1];
  d.send(1, again);
  REQUIRE(d.pass_until_delivered(1));
  CHECK(bits_in(d.heard->delivered[1].accepted) == 300);
  CHECK(before > 80);
  CHECK(d.calls() - 300 <= 10 + 31);
  for (const auto& i : again->items)
    CHECK(d.calls_of(i.delivery_id) >= 1);
}
