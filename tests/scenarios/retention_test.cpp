#include "tests/support/story.hpp"
#include "workflows/examples.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("retention: runs that ended long ago are removed, with all of theirs (J10)") {
  catalog flows;
  add_examples(flows, {});
  world_options o;
  o.retention = std::chrono::hours{24};
  world w{flows, o};
  REQUIRE(w.boot());
  std::vector<run_id> old;
  for (int i = 0; i < 150; ++i)
    old.push_back(w.start("example.counter", R"({"steps":20})", "k" + std::to_string(i))->run);
  auto waits = w.start("example.order", R"({"order":"o","approvalTimeoutMs":864000000})");
  const auto used = w.disk->used_bytes;
  w.pass_time(std::chrono::hours{23});
  CHECK(w.row(old.front()));
  auto recent = w.start("example.counter", R"({"steps":2})");
  w.pass_time(std::chrono::hours{2});
  for (auto run : old)
    CHECK(!w.row(run));
  CHECK(w.row(recent->run));
  CHECK(w.row(waits->run)->status != run_status::completed);
  // What is left are mostly records of commits, which go in slices of their own.
  CHECK(w.disk->used_bytes < used / 4);
  // The key of a removed run is free again.
  auto again = w.start("example.counter", R"({"steps":20})", "k0");
  REQUIRE(again);
  CHECK(!again->existing);
}

TEST_CASE("retention: room is used again and again, the journal does not grow (J10, I18)") {
  catalog flows;
  add_examples(flows, {});
  world_options o;
  o.retention = std::chrono::hours{1};
  world w{flows, o};
  REQUIRE(w.boot());
  std::uint64_t most = 0;
  for (int day = 0; day < 20; ++day) {
    for (int i = 0; i < 20; ++i)
      REQUIRE(w.start("example.counter", R"({"steps":20,"noteBytes":100})"));
    w.pass_time(std::chrono::hours{3});
    if (day == 1) most = w.disk->used_bytes;
    if (day > 1) CHECK(w.disk->used_bytes <= most + most / 5 + 2000);
  }
}

TEST_CASE("retention: a run that is parked stays until somebody looked (J10)") {
  catalog flows;
  flows.add("endless", [](context& ctx, std::string) -> task<void> {
    auto work = [] { return 1; };
    for (;;)
      co_await ctx.step("again", work);
  });
  world_options o;
  o.retention = std::chrono::hours{1};
  o.limits.steps_max = 5;
  world w{flows, o};
  REQUIRE(w.boot());
  auto run = w.start("endless", R"("")");
  w.pass_time(std::chrono::hours{10});
  REQUIRE(w.row(run->run));
  REQUIRE(w.cancel(run->run));
  w.pass_time(std::chrono::hours{2});
  CHECK(!w.row(run->run));
}
