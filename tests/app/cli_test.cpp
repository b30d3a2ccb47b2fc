#include "tests/app/live_node.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace sluice;
using namespace sluice::test;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("cli: a run is started, followed, listed and shown (J12)") {
  temp_folder dir;
  live_node node{dir.at("data")};
  const auto followed =
    node.cli({"start", "example.counter", "--input", R"({"steps":3,"pauseMs":20})", "--follow"});
  CHECK(followed.code == 0);
  CHECK(has(followed.out, "  add-3  done\n"));
  CHECK(has(followed.out, R"(completed  {"sum":6,"steps":3})"));
  CHECK(followed.err.empty());

  const auto listed = node.cli({"runs", "--status", "completed"});
  CHECK(listed.code == 0);
  CHECK(has(listed.out, "example.counter  completed"));
  CHECK_FALSE(has(listed.out, "\x1b"));

  const auto json = node.cli({"runs", "--json"});
  const auto parsed = json::document::parse(json.out);
  REQUIRE(parsed);
  const auto runs = items_of(parsed->root(), "runs");
  REQUIRE(runs.size() == 1);
  const auto shown = node.cli({"run", text_of(runs.front(), "runId")});
  CHECK(shown.code == 0);
  CHECK(has(shown.out, "pause-3"));
}

TEST_CASE("cli: an event lets a waiting run go on, a key makes it one (P7)") {
  temp_folder dir;
  live_node node{dir.at("data")};
  const auto run = node.start("example.order", R"({"order":"A-1","items":2})");
  REQUIRE(node.within(10, [&] { return node.steps_done(run).size() == 3; }));
  const std::vector<std::string> tell{"event", "order.approved", "A-1", "--key", "k-1"};
  CHECK(has(node.cli(tell).out, "is in the journal"));
  CHECK(has(node.cli(tell).out, "was there already"));
  CHECK(node.within(10, [&] { return node.status(run) == "completed"; }));
}

TEST_CASE("cli: a run is cancelled, once") {
  temp_folder dir;
  live_node node{dir.at("data")};
  const auto run = node.start("example.order", R"({"order":"A-2"})");
  CHECK(node.cli({"cancel", run}).out == "cancelled " + run + "\n");
  CHECK(node.within(10, [&] { return node.status(run) == "cancelled"; }));
  CHECK(node.cli({"cancel", run}).code == 1);
  const auto resumed = node.cli({"resume", run});
  CHECK(resumed.code == 1);
  CHECK(resumed.err == "sluice: the run is not parked\n");
}

TEST_CASE("cli: a run that fails is work that failed") {
  temp_folder dir;
  live_node node{dir.at("data")};
  const auto f = node.cli({"start", "example.order", "--input", R"({"order":""})", "--follow"});
  CHECK(f.code == 1);
  CHECK(has(f.out, "an order needs a name"));
}

TEST_CASE("cli: the actors of the node show their cards") {
  temp_folder dir;
  live_node node{dir.at("data")};
  const auto f = node.cli({"actors"});
  CHECK(f.code == 0);
  for (const auto* name : {"journal", "event-log", "admission", "run-host", "api"})
    CHECK(has(f.out, name));
}

TEST_CASE("cli: the journal is looked into beside a live node, and after it") {
  temp_folder dir;
  std::string run;
  {
    live_node node{dir.at("data")};
    run = node.start("example.counter", R"({"steps":2})");
    REQUIRE(node.within(10, [&] { return node.status(run) == "completed"; }));
    const auto stats = node.cli({"journal", "stats", "--json", "--data", dir.at("data")});
    CHECK(stats.code == 0);
    CHECK(has(stats.out, R"("runs":1,"liveRuns":0)"));
    CHECK(node.cli({"journal", "verify", "--data", dir.at("data")}).code == 0);
    const auto dump = node.cli({"journal", "dump", "--run", run, "--data", dir.at("data")});
    CHECK(dump.code == 0);
    CHECK(has(dump.out, R"("name":"add-2")"));
  }
  const auto sound = test::run(sluice_binary, {"journal", "verify", "--data", dir.at("data")});
  CHECK(sound.code == 0);
  CHECK(has(sound.out, "the journal is sound"));
  CHECK(test::run(sluice_binary, {"journal", "stats", "--data", dir.at("none")}).code == 1);
}

TEST_CASE("cli: wrong usage ends with 2 and one line") {
  temp_folder dir;
  const std::vector<std::vector<std::string>> wrong{
    {},
    {"frob"},
    {"node", "--frob"},
    {"run"},
    {"runs", "--limit", "0"},
    {"journal", "dump", "--run", "x", "--data", dir.path()},
    {"start", "example.counter", "--input", "{x"},
    {"start", "example.counter", "--input", "@" + dir.at("none")},
    {"runs", "--url", "ftp://x"},
  };
  for (const auto& args : wrong) {
    const auto f = test::run(sluice_binary, args);
    INFO((args.empty() ? "nothing" : args.back()) << ": " << f.err);
    CHECK(f.code == 2);
    CHECK(std::ranges::count(f.err, '\n') == 1);
  }
  live_node node{dir.at("data")};
  CHECK(node.cli({"start", "nope"}).code == 2);
  CHECK(node.cli({"start", "example.counter", "--input", R"({"steps":"x"})"}).code == 2);
}

TEST_CASE("cli: without a node commands fail and say so; help and version need none") {
  const auto f = test::run(sluice_binary, {"runs", "--url", "http://127.0.0.1:1"});
  CHECK(f.code == 1);
  CHECK(has(f.err, "no node answers at http://127.0.0.1:1"));
  CHECK(test::run(sluice_binary, {"--help"}).code == 0);
  CHECK(has(test::run(sluice_binary, {"start", "--help"}).out, "Examples:"));
  CHECK(test::run(sluice_binary, {"version"}).out == "sluice " SLUICE_VERSION "\n");
  CHECK(has(test::run(sluice_binary, {"workflows"}).out, "example.counter\n"));
  CHECK(has(test::run(sluice_binary, {"workflows"}).out, "backfill.run\n"));
}
