#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct starts {
  std::vector<timestamp> at;
  world* clock = nullptr;
  catalog flows;

  starts() {
    flows
      .add("throttled",
           [this](context& ctx, std::string) -> task<void> {
             auto note = [&] { at.push_back(clock->now()); };
             co_await ctx.step("note", note);
           })
      .throttle(2, duration{10'000}, [](const std::string& key) { return key; });
  }
};

} // namespace

TEST_CASE("throttle: so many starts per period and key, the rest waits its turn (P10)") {
  starts s;
  world w{s.flows};
  s.clock = &w;
  REQUIRE(w.boot());
  const auto begin = w.now();
  for (int i = 0; i < 4; ++i)
    REQUIRE(w.start("throttled", R"("a")"));
  REQUIRE(w.start("throttled", R"("b")"));
  CHECK(s.at.size() == 3);
  w.pass_time(duration{20'000});
  REQUIRE(s.at.size() == 5);
  // A bucket of 2 refills one token every 5 s.
  CHECK(s.at[3] == begin + duration{5000});
  CHECK(s.at[4] == begin + duration{10'000});
}

TEST_CASE("throttle: its tokens are persisted, a restart lets nobody through early (P10)") {
  starts s;
  world w{s.flows};
  s.clock = &w;
  REQUIRE(w.boot());
  const auto begin = w.now();
  for (int i = 0; i < 4; ++i)
    REQUIRE(w.start("throttled", R"("a")"));
  CHECK(s.at.size() == 2);
  w.crash();
  REQUIRE(w.boot());
  w.settle();
  CHECK(s.at.size() == 2);
  w.pass_time(duration{20'000});
  REQUIRE(s.at.size() == 4);
  CHECK(s.at[2] == begin + duration{5000});
  CHECK(s.at[3] == begin + duration{10'000});
}

TEST_CASE("throttle: a key of any length is a key (P10)") {
  starts s;
  world w{s.flows};
  s.clock = &w;
  REQUIRE(w.boot());
  const std::string longest(3000, 'x');
  REQUIRE(w.start("throttled", json::encode(longest)));
  REQUIRE(w.start("throttled", json::encode(longest + "y")));
  CHECK(w.death().empty());
  CHECK(s.at.size() == 2);
  CHECK(w.disk->tables[static_cast<std::size_t>(table::limit)].size() == 2);
}

TEST_CASE("throttle: a run that waits behind it can be cancelled (P10, P11)") {
  starts s;
  world w{s.flows};
  s.clock = &w;
  REQUIRE(w.boot());
  for (int i = 0; i < 2; ++i)
    REQUIRE(w.start("throttled", R"("a")"));
  auto third = w.start("throttled", R"("a")");
  auto fourth = w.start("throttled", R"("a")");
  CHECK(w.look(third->run).waits.front().reason == "throttle");
  REQUIRE(w.cancel(third->run));
  CHECK(w.row(third->run)->status == run_status::cancelled);
  w.pass_time(duration{5000});
  CHECK(w.row(fourth->run)->status == run_status::completed);
}
