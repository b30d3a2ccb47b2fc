#include "base/log.hpp"
#include "tests/support/at_gates.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

constexpr const char* canary = "c4n4ry-t0ken";
constexpr const char* key_canary = "c4n4ry-k3y";

const pass_request call{"github", "inst-1", "core", "conn-1"};

pass_request after_401(std::uint64_t generation) {
  auto what = call;
  what.rejected_generation = generation;
  return what;
}

/// A gateway that answers token calls and counts them.
struct token_gateway {
  int calls = 0;
  int status = 200;
  std::string expires_in = "3600";
  std::string provider = "github";
  std::optional<std::string> body;
  bool same_token = false;
  std::vector<http_request> seen;

  http_response operator()(const http_request& r) {
    ++calls;
    seen.push_back(r);
    if (status != 200) return plain_response(status, "no");
    const auto text = canary + std::to_string(same_token ? 0 : calls);
    return plain_response(200, body.value_or(R"({"accessToken":")" + text + R"(","provider":")"
                                             + provider + R"(","expiresIn":)" + expires_in + "}"));
  }
};

world_options with_gateway() {
  world_options o;
  o.gates.gateway = {"http://gateway.test/api", secret{key_canary}};
  return o;
}

struct at_gateway {
  std::shared_ptr<token_gateway> gateway = std::make_shared<token_gateway>();
  world w;
  gate_client client;

  explicit at_gateway(const world_options& o = with_gateway()) : w{no_flows, o}, client{up(w)} {}
  world& up(world& which) {
    which.network = [g = gateway](const http_request& r) { return (*g)(r); };
    REQUIRE(which.boot());
    return which;
  }
};

bool is_wait(const std::optional<pass_answered>& a) {
  return a && !a->granted && !a->failed && a->wait_until != never;
}

} // namespace

TEST_CASE("token refresher: one request to the gateway for all who ask (B12, I16)") {
  at_gateway s;
  std::vector<token> asked;
  for (int i = 0; i < 30; ++i)
    asked.push_back(s.client.ask(call));
  s.w.pass_time(100ms);
  CHECK(s.gateway->calls == 1);
  for (auto id : asked) {
    REQUIRE(s.client.answer(id));
    REQUIRE(s.client.answer(id)->granted);
    CHECK(s.client.answer(id)->granted->generation == 1);
  }
  const auto& sent = s.gateway->seen.front();
  CHECK(sent.url == "http://gateway.test/api/connections/conn-1/token");
  CHECK(sent.headers.front().name == "X-API-Key");
  CHECK(sent.headers.front().credential);
}

TEST_CASE("token refresher: one refresh for thirty 401s at once (B12, I16)") {
  at_gateway s;
  const auto first = s.client.ask_now(call)->granted->generation;
  std::vector<token> asked;
  for (int i = 0; i < 30; ++i)
    asked.push_back(s.client.ask(after_401(first)));
  s.w.pass_time(100ms);
  // One that comes late with the same 401 gets what is there.
  asked.push_back(s.client.ask(after_401(first)));
  s.w.pass_time(100ms);
  CHECK(s.gateway->calls == 2);
  for (auto id : asked) {
    REQUIRE(s.client.answer(id));
    REQUIRE(s.client.answer(id)->granted);
    CHECK(s.client.answer(id)->granted->generation == first + 1);
    CHECK(s.client.answer(id)->granted->access_token.reveal() == std::string{canary} + "2");
  }
}

TEST_CASE("token refresher: a generation never comes back, also across a restart (I16)") {
  at_gateway s;
  auto last = s.client.ask_now(call)->granted->generation;
  for (int i = 0; i < 3; ++i) {
    s.w.crash();
    s.w.jump_wall_clock(-1h);
    REQUIRE(s.w.boot());
    auto next = s.client.ask_now(call);
    REQUIRE(next);
    REQUIRE(next->granted);
    CHECK(next->granted->generation > last);
    last = next->granted->generation;
  }
}

TEST_CASE("token refresher: a token is given to nobody before its generation is stored (I16)") {
  at_gateway s;
  REQUIRE(s.client.ask_now(call)->granted);
  s.w.disk->quota_bytes = 1;
  auto id = s.client.ask(after_401(1));
  s.w.pass_time(1s);
  CHECK(!s.client.answer(id));
  s.w.disk->quota_bytes = 0;
  s.w.pass_time(5s);
  CHECK(s.client.ask_now(call)->granted->generation == 2);
}

TEST_CASE("token refresher: renews before the end, and nobody waits for that (B12)") {
  at_gateway s;
  s.gateway->expires_in = "600";
  REQUIRE(s.client.ask_now(call)->granted);
  s.w.pass_time(8min);
  CHECK(s.client.ask_now(call)->granted->generation == 1);
  CHECK(s.gateway->calls == 1);
  s.w.pass_time(1min);
  // A minute is left: this one still gets the old token, and the next is fetched.
  CHECK(s.client.ask_now(call)->granted->generation == 1);
  CHECK(s.gateway->calls == 2);
  CHECK(s.client.ask_now(call)->granted->generation == 2);
}

TEST_CASE("token refresher: one that ended is not given out (B12)") {
  at_gateway s;
  s.gateway->expires_in = "600";
  REQUIRE(s.client.ask_now(call)->granted);
  s.w.pass_time(601s);
  CHECK(s.client.ask_now(call)->granted->generation == 2);
}

TEST_CASE("token refresher: without an end it is kept until it is rejected (B12)") {
  at_gateway s;
  s.gateway->expires_in = "null";
  REQUIRE(s.client.ask_now(call)->granted);
  s.w.pass_time(10min);
  CHECK(s.client.ask_now(call)->granted->generation == 1);
  CHECK(s.gateway->calls == 1);
}

TEST_CASE(
  "token refresher: a refresh that brings the same token fails those it was refused (B12)") {
  at_gateway s;
  s.gateway->same_token = true;
  REQUIRE(s.client.ask_now(call)->granted);
  auto refused = s.client.ask_now(after_401(1));
  REQUIRE(refused);
  CHECK(refused->failed);
  // A provider that errs once is worth one plain try.
  CHECK(s.client.ask_now(call)->granted);
}

TEST_CASE("token refresher: what the gateway refuses fails, what may pass is waited for (B12)") {
  at_gateway s;
  SECTION("unknown connection") {
    s.gateway->status = 404;
    auto answer = s.client.ask_now(call);
    REQUIRE(answer);
    CHECK(code_of(answer->failed) == errc::not_found);
  }
  SECTION("wrong key") {
    s.gateway->status = 401;
    CHECK(s.client.ask_now(call)->failed);
  }
  SECTION("garbage, which is not repeated in the error (S7)") {
    for (const auto* body : {"", "[]", "{}", R"({"accessToken":7})", R"({"accessToken":""})",
                             R"({"accessToken":"c4n4ry-t0ken\r\nX: y","provider":"github"})",
                             R"({"accessToken":"c4n4ry-t0ken","expiresIn":"c4n4ry-t0ken"})",
                             R"({"accessToken":"c4n4ry-t0ken)"}) {
      s.gateway->body = body;
      auto answer = s.client.ask_now(call);
      REQUIRE(answer);
      CHECK(answer->failed);
      CHECK(to_text(answer->failed).find("c4n4ry") == std::string::npos);
      s.w.pass_time(2s);
    }
  }
  SECTION("a token of another provider is not sent to this one (S12)") {
    s.gateway->provider = "vercel";
    auto answer = s.client.ask_now(call);
    REQUIRE(answer);
    CHECK(code_of(answer->failed) == errc::bad_input);
  }
  SECTION("too busy") {
    s.gateway->status = 503;
    auto answer = s.client.ask_now(call);
    REQUIRE(is_wait(answer));
    CHECK(answer->reason == "token");
    s.gateway->status = 200;
    s.w.pass_time(answer->wait_until - s.w.now());
    CHECK(s.client.ask_now(call)->granted);
  }
}

TEST_CASE("token refresher: no gateway in the config is said so") {
  at_gateway s{world_options{}};
  auto answer = s.client.ask_now(call);
  REQUIRE(answer);
  CHECK(code_of(answer->failed) == errc::bad_input);
  CHECK(to_text(answer->failed).find("gateway.url") != std::string::npos);
}

TEST_CASE("token refresher: a gateway that is down gets nothing but its circuit's probe (I15)") {
  auto o = with_gateway();
  o.gates.rate.limit = 100'000;
  at_gateway s{o};
  s.gateway->status = 500;
  // Ten connections, each with a worker that always wants to go on.
  std::vector<std::unique_ptr<gate_fleet>> fleets;
  for (int i = 0; i < 10; ++i) {
    auto what = call;
    what.connection = "conn-" + std::to_string(i);
    fleets.push_back(std::make_unique<gate_fleet>(s.w, 1, what, duration{1000}));
  }
  s.w.pass_time(1min);
  const auto before = s.gateway->calls;
  s.w.pass_time(10min);
  // A probe every half minute.
  CHECK(s.gateway->calls - before <= 21);
  CHECK(s.gateway->calls - before >= 15);
  s.gateway->status = 200;
  s.w.pass_time(2min);
  for (const auto& fleet : fleets) {
    CHECK(!fleet->sent.empty());
    CHECK(fleet->failures == 0);
  }
}

TEST_CASE("token refresher: a slow gateway holds nobody for more than two seconds") {
  auto o = with_gateway();
  o.network_delay = duration{5000};
  o.gates.rate = {1, 1h, 75min};
  at_gateway s{o};
  const auto id = s.client.ask(call);
  s.w.pass_time(1900ms);
  CHECK(!s.client.answer(id));
  s.w.pass_time(200ms);
  REQUIRE(is_wait(s.client.answer(id)));
  CHECK(s.client.answer(id)->reason == "token");
  s.w.pass_time(3s);
  // Its permit went back: there is only one.
  CHECK(s.client.ask_now(call)->granted);
  CHECK(s.gateway->calls == 1);
}

TEST_CASE("token refresher: no secret in journal, logs, cards or errors (S7, I24)") {
  const auto file = (std::filesystem::temp_directory_path()
                     / ("sluice-gates-" + std::to_string(::getpid()) + ".log"))
                      .string();
  std::string all;
  log::start({.least = log::level::debug, .shape = log::format::json, .file = file});
  {
    at_gateway s;
    REQUIRE(s.client.ask_now(call)->granted);
    REQUIRE(s.client.ask_now(after_401(1))->granted);
    for (const int status : {500, 404, 401, 429}) {
      s.gateway->status = status;
      auto answer = s.client.ask_now(after_401(100));
      REQUIRE(answer);
      all += to_text(answer->failed) + answer->reason;
      s.w.pass_time(10s);
    }
    for (const auto& card : s.w.cards())
      all += card.kind + card.label + card.state + card.waits_for;
    for (const auto& rows : s.w.disk->tables)
      for (const auto& [key, value] : rows)
        all += key + value;
    CHECK(all.find("generation") != std::string::npos);
    s.w.crash();
  }
  log::stop();
  std::ifstream in{file};
  all.append(std::istreambuf_iterator<char>{in}, {});
  std::filesystem::remove(file);
  CHECK(all.find("c4n4ry") == std::string::npos);
}
