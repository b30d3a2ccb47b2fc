#include "tests/support/at_gates.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

const pass_request call{"github", "inst-1", "core", "conn-1"};

world_options options() {
  world_options o;
  o.gates.gateway = {"http://gateway.test", secret{"key"}};
  o.gates.rate = {100, 1h, 75min};
  return o;
}

std::size_t count(world& w, std::string_view kind) {
  const auto cards = w.cards();
  return static_cast<std::size_t>(
    std::count_if(cards.begin(), cards.end(), [&](const auto& c) { return c.kind == kind; }));
}

http_response token_of(const http_request&) {
  return plain_response(200, R"({"accessToken":"t","provider":"github","expiresIn":null})");
}

} // namespace

TEST_CASE("gatekeeper: only the gates that a request names are asked") {
  world w{no_flows, options()};
  REQUIRE(w.boot());
  gate_client client{w};
  // The delivery watches the gateway's circuit from the start.
  CHECK(client.ask_now({})->granted);
  CHECK(count(w, "circuit-breaker") == 1);
  CHECK(client.ask_now({"gateway", "inst-1", {}, {}})->granted);
  CHECK(count(w, "circuit-breaker") == 1);
  CHECK(count(w, "rate-limiter") == 0);
  w.network = token_of;
  CHECK(client.ask_now(call)->granted);
  CHECK(count(w, "circuit-breaker") == 2);
  CHECK(count(w, "rate-limiter") == 1);
  CHECK(count(w, "token-refresher") == 1);
  CHECK(w.death().empty());
}

TEST_CASE("gatekeeper: every gate tells its card") {
  world w{no_flows, options()};
  w.network = token_of;
  REQUIRE(w.boot());
  gate_client client{w};
  REQUIRE(client.ask_now(call)->granted);
  std::map<std::string, std::string> labels;
  for (const auto& card : w.cards())
    labels[card.kind + " " + card.label] = card.state;
  CHECK(labels.at("gatekeeper ") == "2 circuits, 1 limits, 1 tokens");
  CHECK(labels.at("circuit-breaker github") == "closed");
  CHECK(labels.at("rate-limiter github inst-1 core") == "1 of 100");
  CHECK(labels.at("token-refresher conn-1") == "generation 1");
}

TEST_CASE("gatekeeper: gates that nobody needs go away, and forget nothing that matters (H7)") {
  world w{no_flows, options()};
  w.network = token_of;
  REQUIRE(w.boot());
  gate_client client{w};
  for (int i = 0; i < 99; ++i) {
    auto answer = client.ask_now(call);
    REQUIRE(answer->granted);
    client.finish(call, answer->granted->permit, pass_outcome::success);
  }
  w.pass_time(17min);
  CHECK(count(w, "rate-limiter") == 0);
  CHECK(count(w, "token-refresher") == 0);
  CHECK(w.death().empty());
  auto last = client.ask_now(call);
  REQUIRE(last->granted);
  CHECK(last->granted->generation == 2);
  CHECK(!client.ask_now(call)->granted);
}

TEST_CASE("gatekeeper: more keys than it may have wait") {
  auto o = options();
  o.gates.gates_max = 3;
  world w{no_flows, o};
  REQUIRE(w.boot());
  gate_client client{w};
  for (int i = 0; i < 3; ++i)
    CHECK(client.ask_now({"github", "inst-" + std::to_string(i), "core", {}})->granted);
  auto late = client.ask_now({"github", "inst-9", "core", {}});
  REQUIRE(late);
  CHECK(!late->granted);
  CHECK(late->reason == "too many gates");
}

TEST_CASE(
  "gatekeeper: a pass is turned back whole: a wait at the limit gives the probe back (I15)") {
  auto o = options();
  o.gates.rate = {1, 1h, 75min};
  world w{no_flows, o};
  REQUIRE(w.boot());
  gate_client client{w};
  const pass_request poor{"github", "poor", "core", {}};
  const pass_request rich{"github", "rich", "core", {}};
  REQUIRE(client.ask_now(poor)->granted); // its only one
  client.finish_many("github", pass_outcome::failure, 5);
  w.pass_time(30s);
  auto refused = client.ask_now(poor);
  REQUIRE(refused);
  CHECK(refused->reason == "rate limit: core");
  auto probe = client.ask_now(rich);
  REQUIRE(probe);
  REQUIRE(probe->granted);
  CHECK(probe->granted->probe);
}

TEST_CASE("gatekeeper: a wait for the token gives probe and permit back (I15)") {
  auto o = options();
  o.gates.rate = {1, 1h, 75min};
  world w{no_flows, o};
  bool up = false;
  w.network = [&up](const http_request& r) { return up ? token_of(r) : plain_response(503); };
  REQUIRE(w.boot());
  gate_client client{w};
  client.finish_many("github", pass_outcome::failure, 5);
  w.pass_time(30s);
  auto refused = client.ask_now(call);
  REQUIRE(refused);
  CHECK(refused->reason == "token");
  up = true;
  w.pass_time(refused->wait_until - w.now());
  auto probe = client.ask_now(call);
  REQUIRE(probe);
  REQUIRE(probe->granted);
  CHECK(probe->granted->probe);
}
