#include "tests/workflows/machine_driver.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace sluice;

namespace {

struct tale {
  catalog flows;
  std::vector<std::string> worked; ///< step and key of each execution
  std::vector<std::string> drawn;  ///< what the workflow saw outside of steps
  bool fails = false;

  tale() {
    flows.add("child", [](context&, std::uint64_t) -> task<int> { co_return 1; });
    flows.add("tale", [this](context& ctx, json::raw) { return tell(ctx); });
  }

  task<std::uint64_t> tell(context& ctx) {
    auto work = [this](const attempt& a) {
      worked.push_back(std::string{a.step()} + " " + a.idempotency_key());
      return worked.size();
    };
    auto flaky = [this](const attempt& a) -> int {
      worked.push_back(std::string{a.step()} + " " + a.idempotency_key());
      if (a.number() < 2) throw std::runtime_error{"not yet"};
      return 3;
    };
    co_await ctx.step("first", work);
    drawn.push_back(std::to_string(ctx.random()) + to_string(ctx.make_uuid()));
    co_await ctx.all(ctx.step("left", work), ctx.sleep("rest", duration{50}),
                     ctx.step("flaky", flaky), ctx.wait("hear", "told", "x"));
    if (co_await ctx.version("change", 3) >= 2) co_await ctx.step("newer", work);
    co_await ctx.send("tell", {{"told", "y", "1"}});
    const auto five = co_await ctx.invoke<std::uint64_t>("child", "child", 1u);
    co_await ctx.step("first", work);
    if (fails) throw non_retriable{"end", "of the tale"};
    co_return five;
  }
};

std::vector<std::string> unique(std::vector<std::string> all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

} // namespace

TEST_CASE("machine: replayed from every prefix of its journal it asks for the same (I7, I9)") {
  const bool fails = GENERATE(false, true);
  tale whole;
  whole.fails = fails;
  machine_driver once{whole.flows, "tale"};
  once.play(0);
  REQUIRE(once.row());
  const auto end = fails ? run_status::failed : run_status::completed;
  REQUIRE(once.row()->status == end);
  const auto asked = once.asked();
  CHECK(asked.size() == 10); // nine asks and the version
  for (std::size_t known = 0; known <= once.commits.size(); ++known) {
    INFO("stopped after commit " << known);
    tale again;
    again.fails = fails;
    machine_driver d{again.flows, "tale"};
    d.play(0, known);
    if (d.row() && is_terminal(d.row()->status)) continue;
    d.play(d.commits.size());
    CHECK(d.asked() == asked);
    REQUIRE(d.row());
    CHECK(d.row()->status == end);
    // The same keys however often a step was tried, and the same values outside of steps.
    CHECK(unique(again.worked) == unique(whole.worked));
    CHECK(unique(again.drawn) == unique(whole.drawn));
  }
}

TEST_CASE("machine: what is recorded is not executed again (P1)") {
  tale t;
  machine_driver d{t.flows, "tale"};
  d.play(0, 3);
  const auto before = unique(t.worked);
  t.worked.clear();
  d.play(3);
  // "first" is in the journal under its first ordinal, and executed under its second only.
  CHECK(std::count_if(t.worked.begin(), t.worked.end(),
                      [](const auto& s) { return s.starts_with("first "); })
        == 1);
  CHECK(d.row()->status == run_status::completed);
}

TEST_CASE("machine: a memo with a record too many parks, and writes nothing else (P14)") {
  tale t;
  machine_driver d{t.flows, "tale"};
  d.play(0, 1);
  step_record stray;
  stray.run = run_id{uuid{{7}}};
  stray.ordinal = 5;
  stray.name = "stray";
  stray.payload = "1";
  d.commits.push_back({put_step{stray}});
  const auto executed = t.worked.size();
  d.play(2);
  REQUIRE(d.row());
  CHECK(d.row()->status == run_status::parked);
  CHECK(d.row()->reason.find("'stray'") != std::string::npos);
  CHECK(t.worked.size() == executed);
  CHECK(d.commits.size() == 3);
}
