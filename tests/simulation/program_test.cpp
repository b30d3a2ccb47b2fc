#include "tests/simulation/options.hpp"
#include "tests/simulation/program.hpp"
#include "tests/simulation/simulation.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace sluice::simulation;

namespace {

observations nothing_seen() {
  return {[](const program&, const act&) { return "none"; },
          [](const program&) -> std::optional<std::string> { return {}; }};
}

act step_of(std::string name, trouble how, std::uint32_t fails) {
  act a;
  a.name = std::move(name);
  a.value = 7;
  a.how = how;
  a.fails = fails;
  return a;
}

} // namespace

TEST_CASE("program: what is drawn survives JSON and is the same for the same seed (I28)") {
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    dice one{seed, 5};
    dice two{seed, 5};
    const auto p = draw_program(one, "p1", {});
    CHECK(json::encode(p) == json::encode(draw_program(two, "p1", {})));
    const auto read = json::decode<program>(json::encode(p));
    REQUIRE(read);
    CHECK(json::encode(*read) == json::encode(p));
    CHECK(to_text(*read) == to_text(p));
  }
}

TEST_CASE("program: the model knows which troubles a step survives (P2, P3)") {
  program p;
  p.id = "p";
  p.acts = {step_of("a1", trouble::error, attempts_max - 1), step_of("a2", trouble::gate, 9)};
  CHECK_FALSE(expected_end(p, nothing_seen()).code);
  CHECK(expected_end(p, nothing_seen()).result.said == std::vector<std::string>{"a1=7", "a2=7"});
  p.acts.push_back(step_of("a3", trouble::error, attempts_max));
  CHECK(expected_end(p, nothing_seen()).code == "step_failed");
  CHECK(expected_end(p, nothing_seen()).step == "a3");
  p.acts.back().how = trouble::final;
  CHECK(expected_end(p, nothing_seen()).code == "refused");
  p.acts.back().tolerate = true;
  CHECK_FALSE(expected_end(p, nothing_seen()).code);
  CHECK(expected_end(p, nothing_seen()).result.said.back() == "a3!refused");
}

TEST_CASE("program: a child's failure is its parent's, unless the parent bears it (P7)") {
  program child;
  child.id = "p.a1";
  child.acts = {step_of("a1", trouble::final, 0)};
  act invoke;
  invoke.kind = act_kind::invoke;
  invoke.name = "a1";
  invoke.child = {child};
  program p;
  p.id = "p";
  p.acts = {invoke};
  CHECK(expected_end(p, nothing_seen()).code == "refused");
  auto seen = nothing_seen();
  seen.cut = [](const program&) { return std::optional<std::string>{"cancelled"}; };
  CHECK(expected_end(p, seen).code == "cancelled");
}

TEST_CASE("simulation: a seed leaves the same trace every time (I28)") {
  const auto first = run_seed(4);
  const auto second = run_seed(4);
  CHECK_FALSE(first.broken);
  CHECK(first.trace == second.trace);
  CHECK(first.counts.messages == second.counts.messages);
}
