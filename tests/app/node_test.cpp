#include "tests/app/live_node.hpp"
#include "tests/support/raw_server.hpp"

#include <catch2/catch.hpp>

#include <csignal>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

TEST_CASE("node: ready, a run, SIGTERM ends it in order, and it goes on (60-surface)") {
  temp_folder dir;
  std::string slow;
  {
    live_node node{dir.at("data")};
    CHECK(text_of(node.get("health/ready").root(), "status") == "healthy");
    const auto quick = node.start("example.counter", R"({"steps":4})");
    CHECK(node.within(10, [&] { return node.status(quick) == "completed"; }));
    CHECK(node.result(quick) == R"({"sum":10,"steps":4})");
    slow = node.start("example.counter", R"({"steps":3,"pauseMs":700})");
    CHECK(node.within(10, [&] { return !node.steps_done(slow).empty(); }));
    node.process().signal(SIGTERM);
    const auto ended = node.process().wait(20s);
    REQUIRE(ended);
    CHECK(ended->code == 0);
    CHECK(ended->err.find("created the data folder") != std::string::npos);
  }
  live_node again{dir.at("data")};
  CHECK(again.process().err().find("created") == std::string::npos);
  CHECK(again.process().err().find(R"("afterCrash":false)") != std::string::npos);
  CHECK(again.within(10, [&] { return again.status(slow) == "completed"; }));
  CHECK(again.result(slow) == R"({"sum":6,"steps":3})");
}

TEST_CASE("node: killed with -9 in the middle, no step is repeated (P1, I2)") {
  temp_folder dir;
  std::string run;
  std::map<std::string, std::string> before;
  {
    live_node node{dir.at("data")};
    run = node.start("example.counter", R"({"steps":10,"pauseMs":150})");
    REQUIRE(node.within(10, [&] {
      before = node.steps_done(run);
      return before.size() >= 7;
    }));
    node.process().signal(SIGKILL);
    const auto ended = node.process().wait(20s);
    REQUIRE(ended);
    CHECK(ended->signal == SIGKILL);
  }
  live_node again{dir.at("data")};
  CHECK(again.process().err().find(R"("afterCrash":true)") != std::string::npos);
  REQUIRE(again.within(20, [&] { return again.status(run) == "completed"; }));
  CHECK(again.result(run) == R"({"sum":55,"steps":10})"); // 1 + 2 + … + 10
  const auto after = again.steps_done(run);
  CHECK(after.size() == 20); // ten additions, ten pauses
  for (const auto& [name, at] : before) {
    INFO(name);
    CHECK(after.at(name) == at); // its record is the one from before
  }
}

TEST_CASE("node: told to stop twice, it ends at once with 1") {
  temp_folder dir;
  // Says nothing, so that a step stays under way.
  raw_server silent{[](raw_stream& caller) { caller.read_until("what nobody says"); }};
  live_node node{dir.at("data"), {{"SLUICE_EXAMPLE_URL", silent.url("/")}}};
  node.start("example.calls", R"({"calls":1})");
  REQUIRE(node.within(10, [&] { return silent.connections() > 0; }));
  node.process().signal(SIGTERM);
  REQUIRE(node.within(
    10, [&] { return node.process().err().find("told to stop") != std::string::npos; }));
  CHECK_FALSE(node.process().wait(100ms));
  node.process().signal(SIGINT);
  const auto ended = node.process().wait(5s);
  REQUIRE(ended);
  CHECK(ended->code == 1);
}

TEST_CASE("node: a token in an input or a correlation id is in no log line (X9)") {
  temp_folder dir;
  const std::string token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
  live_node node{dir.at("data"), {{"SLUICE_LOG_LEVEL", "debug"}}};
  const auto run = node.start("example.order", R"({"order":"","token":")" + token + R"("})");
  CHECK(node.within(10, [&] { return node.status(run) == "failed"; }));
  node.cli({"start", "example.counter", "--input", R"({"steps":")" + token + R"("})"});
  node.cli({"start", token});
  auto raw = raw_stream::to(static_cast<std::uint16_t>(std::stoi(node.port())));
  raw.send("POST /runs?token=" + token + " HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Correlation-Id: "
           + token + "\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 0\r\n\r\n");
  CHECK(raw.read_until("\r\n\r\n").find("HTTP/1.1 400") == 0);
  node.process().signal(SIGTERM);
  const auto ended = node.process().wait(20s);
  REQUIRE(ended);
  CHECK(ended->code == 0);
  CHECK(ended->err.find(token) == std::string::npos);
}
