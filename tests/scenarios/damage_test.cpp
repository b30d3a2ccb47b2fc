#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

catalog holders() {
  catalog flows;
  flows.add("hold", [](context& ctx, std::string name) -> task<std::string> {
    auto work = [&] { return name; };
    auto said = co_await ctx.step("say", work);
    co_await ctx.wait("hold", "go", "x");
    co_return said;
  });
  return flows;
}

/// Every run that has not ended is hosted, waits, or is parked (I27).
void no_orphans(world& w) {
  const auto counts = w.count();
  std::uint64_t live = 0;
  for (const auto& [id, run] : w.disk->runs)
    live += is_terminal(run.row.status) ? 0 : 1;
  CHECK(counts.hosted + counts.pending + counts.parked == live);
}

} // namespace

TEST_CASE("damage: a corrupt record parks its run, the others go on (F23, I27)") {
  auto flows = holders();
  world w{flows};
  REQUIRE(w.boot());
  auto bad = w.start("hold", R"("bad")");
  auto good = w.start("hold", R"("good")");
  w.crash();
  w.disk->corrupt_record(bad->run);
  REQUIRE(w.boot());
  w.settle();
  CHECK(w.row(bad->run)->status == run_status::parked);
  CHECK(w.row(bad->run)->reason.find("corrupt: ") == 0);
  CHECK(w.row(good->run)->status == run_status::running);
  no_orphans(w);
  REQUIRE(w.publish("go", "x"));
  CHECK(w.row(good->run)->status == run_status::completed);
  // Resuming it finds the same; cancelling it ends it.
  REQUIRE(w.resume(bad->run));
  CHECK(w.row(bad->run)->status == run_status::parked);
  REQUIRE(w.cancel(bad->run));
  CHECK(w.row(bad->run)->status == run_status::cancelled);
}

TEST_CASE("damage: a corrupt row is shown as parked and nothing is written over it (F23)") {
  auto flows = holders();
  world w{flows};
  REQUIRE(w.boot());
  auto bad = w.start("hold", R"("bad")");
  auto good = w.start("hold", R"("good")");
  w.crash();
  w.disk->corrupt_row(bad->run);
  REQUIRE(w.boot());
  w.settle();
  CHECK(w.look(bad->run).status == run_status::parked);
  CHECK(w.disk->runs.at(bad->run).row_corrupt);
  CHECK(w.row(good->run)->status == run_status::running);
  no_orphans(w);
  CHECK(refused(w.cancel(bad->run), errc::conflict));
  CHECK(w.death().empty());
}

TEST_CASE("damage: reads that fail during recovery are tried again (F10, I27)") {
  auto flows = holders();
  world w{flows};
  REQUIRE(w.boot());
  std::vector<run_id> runs;
  for (int i = 0; i < 10; ++i)
    runs.push_back(w.start("hold", R"("x")")->run);
  w.crash();
  w.fail_reads_after_boot = 4;
  REQUIRE(w.boot());
  w.pass_time(duration{10'000});
  no_orphans(w);
  REQUIRE(w.publish("go", "x"));
  for (auto run : runs)
    CHECK(w.row(run)->status == run_status::completed);
}

TEST_CASE("damage: no orphan after a crash at any message (I27)") {
  auto flows = holders();
  for (std::size_t at = 1; at < 120; at += 2) {
    world w{flows};
    REQUIRE(w.boot());
    for (const char* key : {"a", "b", "c"})
      request_later(w, keyed_request("hold", R"("x")", key));
    for (std::size_t n = 0; n < at; ++n)
      w.run_one(n * 7);
    w.crash();
    REQUIRE(w.boot());
    w.settle();
    no_orphans(w);
  }
}
