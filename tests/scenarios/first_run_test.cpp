#include "tests/support/world.hpp"
#include "workflows/examples.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("first run: a counter counts, every step in the journal (P1)") {
  catalog flows;
  add_examples(flows, {});
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("example.counter", R"({"steps":4})");
  REQUIRE(run);
  w.pass_time(duration{1000});
  REQUIRE(w.row(run->run));
  CHECK(w.row(run->run)->status == run_status::completed);
  REQUIRE(w.outcome(run->run));
  CHECK(w.outcome(run->run)->result.text == R"({"sum":10,"steps":4})");
  CHECK(w.steps(run->run).size() == 4);
}

TEST_CASE("first run: killed at every message, it ends with the same result (P1, I2)") {
  catalog flows;
  add_examples(flows, {});
  for (std::uint64_t at = 1; at < 200; at += 3) {
    world w{flows};
    REQUIRE(w.boot());
    auto run = w.start("example.counter", R"({"steps":4,"pauseMs":50})");
    REQUIRE(run);
    for (std::uint64_t n = 0; n < at; ++n)
      if (!w.run_one(0)) w.pass_time(duration{10});
    w.crash();
    REQUIRE(w.boot());
    w.pass_time(duration{5000});
    INFO("killed after message " << at);
    REQUIRE(w.outcome(run->run));
    CHECK(w.outcome(run->run)->result.text == R"({"sum":10,"steps":4})");
  }
}
