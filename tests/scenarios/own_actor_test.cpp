#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace sluice;

namespace {

struct workers {
  catalog flows;

  workers() {
    flows
      .add("order",
           [](context& ctx, std::string name) -> task<std::string> {
             auto work = [&] { return name; };
             auto said = co_await ctx.step("say", work);
             co_await ctx.wait("hold", "go", name);
             co_return said;
           })
      .own_actor("orchestrator");
    flows
      .add("parent",
           [](context& ctx, std::string name) -> task<std::string> {
             co_return co_await ctx.invoke<std::string>("child", "order", name);
           })
      .own_actor("parent");
    flows
      .add(
        "nap",
        [](context& ctx, std::string) -> task<void> { co_await ctx.sleep("rest", duration{1000}); })
      .own_actor("sleeper");
  }
};

std::vector<std::string> labels(world& w) {
  std::vector<std::string> all;
  for (const auto& card : w.cards())
    if (!card.label.empty()) all.push_back(card.label.substr(0, card.label.find(' ')));
  return all;
}

auto count_of(world& w, const std::string& kind) {
  const auto all = labels(w);
  return std::count(all.begin(), all.end(), kind);
}

} // namespace

TEST_CASE("own actor: a run has one, listed by name, and it goes when the run ends (P1)") {
  workers s;
  world w{s.flows};
  REQUIRE(w.boot());
  auto a = w.start("order", R"("a")");
  auto b = w.start("order", R"("b")");
  CHECK(count_of(w, "orchestrator") == 2);
  CHECK(w.look(a->run).host == "orchestrator " + to_string(a->run));
  REQUIRE(w.publish("go", "a"));
  CHECK(w.outcome(a->run)->result.text == R"("a")");
  CHECK(count_of(w, "orchestrator") == 1);
  REQUIRE(w.cancel(b->run));
  CHECK(w.row(b->run)->status == run_status::cancelled);
  CHECK(count_of(w, "orchestrator") == 0);
  CHECK(w.count().hosted == 0);
}

TEST_CASE("own actor: survives a crash, parents and children too (P1, P7)") {
  workers s;
  world w{s.flows};
  REQUIRE(w.boot());
  auto a = w.start("parent", R"("a")");
  auto b = w.start("parent", R"("b")");
  w.crash();
  REQUIRE(w.boot());
  w.settle();
  CHECK(count_of(w, "orchestrator") == 2);
  CHECK(count_of(w, "parent") == 2);
  REQUIRE(w.publish("go", "a"));
  REQUIRE(w.publish("go", "b"));
  CHECK(w.outcome(a->run)->result.text == R"("a")");
  CHECK(w.outcome(b->run)->result.text == R"("b")");
  CHECK(w.cards().size() == 14);
}

TEST_CASE("own actor: thousands that come and go leave nothing behind (I18)") {
  workers s;
  world w{s.flows};
  REQUIRE(w.boot());
  const auto before = w.cards().size();
  for (int i = 0; i < 500; ++i) {
    REQUIRE(w.start("nap", R"("")"));
    if (i % 50 == 0) w.pass_time(duration{2000});
  }
  w.pass_time(duration{2000});
  CHECK(w.cards().size() == before);
  for (const auto& card : w.cards())
    if (card.kind == "timekeeper") CHECK(card.state == "0 timers");
}

TEST_CASE("inspector: every actor of the node has a card, each once (60-surface)") {
  workers s;
  world w{s.flows};
  REQUIRE(w.boot());
  std::multiset<std::string> kinds;
  for (const auto& card : w.cards()) {
    kinds.insert(card.kind);
    CHECK(card.id != 0);
    CHECK(!card.state.empty());
  }
  CHECK(kinds
        == std::multiset<std::string>{"admission", "circuit-breaker", "event-log", "gatekeeper",
                                      "gateway", "http-client", "inspector", "journal", "reader",
                                      "retention", "run-host", "run-host", "supervisor",
                                      "timekeeper"});
}
