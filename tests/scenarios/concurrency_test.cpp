#include "tests/support/story.hpp"
#include "workflows/errors.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace sluice;

namespace {

struct job {
  std::string tenant;
  std::string name;
};
template <class Fields>
void describe(Fields& f, job& x) {
  f("tenant", x.tenant);
  f("name", x.name);
}

/// Runs that hold their slots until they are told to stop, and who was let in, in order.
struct factory {
  std::vector<std::string> let_in;
  catalog flows;

  factory(std::uint32_t all, std::uint32_t per_tenant) {
    flows
      .add("job",
           [this](context& ctx, job in) -> task<void> {
             auto note = [&] { let_in.push_back(in.name); };
             co_await ctx.step("note", note);
             co_await ctx.wait("hold", "stop", in.name);
           })
      .limit(all)
      .limit(per_tenant, [](const job& in) { return in.tenant; });
  }
};

std::string input(std::string tenant, std::string name) {
  return json::encode(job{std::move(tenant), std::move(name)});
}

} // namespace

TEST_CASE("concurrency: what exceeds a limit waits in arrival order (P9)") {
  factory f{2, 2};
  world w{f.flows};
  REQUIRE(w.boot());
  std::vector<run_id> runs;
  for (const char* name : {"a", "b", "c", "d"})
    runs.push_back(w.start("job", input("t", name))->run);
  CHECK(f.let_in == std::vector<std::string>{"a", "b"});
  CHECK(w.row(runs[2])->status == run_status::pending);
  CHECK(w.look(runs[2]).waits.front().reason == "slot");
  REQUIRE(w.publish("stop", "b"));
  CHECK(f.let_in == std::vector<std::string>{"a", "b", "c"});
  REQUIRE(w.publish("stop", "a"));
  CHECK(f.let_in == std::vector<std::string>{"a", "b", "c", "d"});
}

TEST_CASE("concurrency: keys take turns, one key's backlog delays no other (P9)") {
  factory f{2, 1};
  world w{f.flows};
  REQUIRE(w.boot());
  for (const char* name : {"a1", "a2", "a3", "a4"})
    REQUIRE(w.start("job", input("a", name)));
  for (const char* name : {"b1", "b2"})
    REQUIRE(w.start("job", input("b", name)));
  CHECK(f.let_in == std::vector<std::string>{"a1", "b1"});
  REQUIRE(w.publish("stop", "a1"));
  REQUIRE(w.publish("stop", "b1"));
  CHECK(f.let_in == std::vector<std::string>{"a1", "b1", "a2", "b2"});
}

TEST_CASE("concurrency: limits hold over a restart, and those that began go first (P9)") {
  factory f{2, 2};
  world w{f.flows};
  REQUIRE(w.boot());
  for (const char* name : {"a", "b", "c", "d"})
    REQUIRE(w.start("job", input("t", name)));
  w.crash();
  REQUIRE(w.boot());
  w.settle();
  CHECK(f.let_in == std::vector<std::string>{"a", "b"});
  REQUIRE(w.publish("stop", "a"));
  REQUIRE(w.publish("stop", "b"));
  CHECK(f.let_in == std::vector<std::string>{"a", "b", "c", "d"});
}

TEST_CASE("concurrency: a gate gives the slot back, the run returns ahead of newcomers (P9, P3)") {
  std::vector<std::string> order;
  timestamp open{};
  world* clock = nullptr;
  catalog flows;
  flows
    .add("gated",
         [&](context& ctx, std::string name) -> task<void> {
           auto work = [&, gated = name == "gated"] {
             order.push_back(name);
             if (gated && clock->now() < open) throw wait_until{open, "gate", slot_use::give_back};
           };
           co_await ctx.step("work", work);
           co_await ctx.wait("hold", "stop", name);
         })
    .limit(1);
  world w{flows};
  clock = &w;
  REQUIRE(w.boot());
  open = w.now() + duration{10'000};
  auto gated = w.start("gated", R"("gated")");
  REQUIRE(w.start("gated", R"("second")"));
  REQUIRE(w.start("gated", R"("third")"));
  // The slot went to the second one.
  CHECK(order == std::vector<std::string>{"gated", "second"});
  w.pass_time(duration{20'000});
  CHECK(w.look(gated->run).waits.front().reason == "slot");
  CHECK(order.size() == 2);
  REQUIRE(w.publish("stop", "second"));
  CHECK(order == std::vector<std::string>{"gated", "second", "gated"});
  REQUIRE(w.publish("stop", "gated"));
  CHECK(order.back() == "third");
}

TEST_CASE("concurrency: a slot that was given back stays so over a restart (P9)") {
  int tries = 0;
  timestamp open{};
  world* clock = nullptr;
  catalog flows;
  flows
    .add("gated",
         [&](context& ctx, std::string name) -> task<void> {
           auto work = [&] {
             ++tries;
             if (name == "gated" && clock->now() < open)
               throw wait_until{open, "gate", slot_use::give_back};
           };
           co_await ctx.step("work", work);
         })
    .limit(1);
  world w{flows};
  clock = &w;
  REQUIRE(w.boot());
  open = w.now() + duration{10'000};
  auto gated = w.start("gated", R"("gated")");
  w.crash();
  REQUIRE(w.boot());
  w.settle();
  auto other = w.start("gated", R"("other")");
  CHECK(w.row(other->run)->status == run_status::completed);
  w.pass_time(duration{10'000});
  CHECK(w.row(gated->run)->status == run_status::completed);
  CHECK(tries == 3);
}

TEST_CASE("concurrency: a gate that opened while the node was down is no second slot (P9)") {
  std::vector<std::string> order;
  timestamp open{};
  world* clock = nullptr;
  catalog flows;
  flows
    .add("gated",
         [&](context& ctx, std::string name) -> task<void> {
           auto work = [&] {
             order.push_back(name);
             if (name == "gated" && clock->now() < open)
               throw wait_until{open, "gate", slot_use::give_back};
           };
           co_await ctx.step("work", work);
           co_await ctx.wait("hold", "stop", name);
         })
    .limit(1);
  world w{flows};
  clock = &w;
  REQUIRE(w.boot());
  open = w.now() + duration{10'000};
  auto gated = w.start("gated", R"("gated")");
  REQUIRE(w.start("gated", R"("other")"));
  w.crash();
  w.pass_time(duration{20'000});
  REQUIRE(w.boot());
  w.pass_time(duration{1000});
  CHECK(order == std::vector<std::string>{"gated", "other"});
  CHECK(w.look(gated->run).waits.front().reason == "slot");
  REQUIRE(w.publish("stop", "other"));
  CHECK(order.back() == "gated");
}

TEST_CASE("concurrency: a run without limits may give back what it never had (P9, P3)") {
  timestamp open{};
  world* clock = nullptr;
  catalog flows;
  flows.add("free", [&](context& ctx, std::string) -> task<void> {
    auto work = [&] {
      if (clock->now() < open) throw wait_until{open, "gate", slot_use::give_back};
    };
    co_await ctx.step("work", work);
  });
  world w{flows};
  clock = &w;
  REQUIRE(w.boot());
  open = w.now() + duration{1000};
  auto run = w.start("free", R"("")");
  w.pass_time(duration{1000});
  CHECK(w.row(run->run)->status == run_status::completed);
}

TEST_CASE("concurrency: killed at every message, never more than the limit, all end (P9, I27)") {
  int inside = 0;
  int most = 0;
  catalog flows;
  flows
    .add("job",
         [&](context& ctx, std::string) -> task<int> {
           auto enter = [&] { most = std::max(most, ++inside); };
           auto leave = [&] { --inside; };
           co_await ctx.step("enter", enter);
           co_await ctx.sleep("hold", duration{100});
           co_await ctx.step("leave", leave);
           co_return 1;
         })
    .limit(2);
  const std::vector<std::string> keys{"k1", "k2", "k3", "k4"};
  story s{.flows = flows,
          .begin =
            [&](world& w) {
              if (w.disk->head == 0) most = 0;
              inside = 0;
              // What a crash left inside: their `enter` is in the journal, their `leave` is not.
              for (const auto& [id, run] : w.disk->runs)
                if (step_named(w, id, "enter") && !step_named(w, id, "leave")) ++inside;
              for (const auto& key : keys)
                request_later(w, keyed_request("job", R"("")", key));
            },
          .done =
            [&](const world& w) {
              return std::all_of(keys.begin(), keys.end(),
                                 [&](const auto& key) { return !result_of(w, key).empty(); });
            },
          .check = [&](const world& w) { CHECK(w.disk->runs.size() == 4); }};
  CHECK(killed_at_every_message(s) > 50);
  CHECK(most <= 3); // an `enter` that a crash cut off is done again
}
