#include "tests/support/story.hpp"
#include "workflows/errors.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

constexpr std::uint64_t many = 40'000; // memos are loaded in parts of 16,384

struct marathon {
  catalog flows;
  std::uint64_t executed = 0;

  marathon() {
    flows.add("child", [](context& ctx, std::uint64_t) -> task<void> {
      co_await ctx.wait("hold", "never", "x");
    });
    flows.add("marathon", [this](context& ctx, std::uint64_t steps) -> task<std::uint64_t> {
      std::uint64_t sum = 0;
      for (std::uint64_t n = 0; n < steps; n += 100) {
        auto work = [this, n] {
          return [this, n] {
            ++executed;
            return n;
          };
        };
        std::vector<decltype(ctx.step("", work()))> group;
        for (int i = 0; i < 100; ++i)
          group.push_back(ctx.step("n", work()));
        for (auto x : co_await ctx.all(std::move(group)))
          sum += x;
      }
      co_await ctx.invoke<json::raw>("child", "child", steps);
      co_return sum;
    });
  }
};

} // namespace

TEST_CASE("long run: its memo is read in parts after a crash, and it goes on (P1, F3)") {
  marathon m;
  world w{m.flows};
  REQUIRE(w.boot());
  auto run = w.start("marathon", std::to_string(many));
  CHECK(m.executed == many);
  CHECK(w.look(run->run).waits.front().reason.find("child ") == 0);
  w.crash();
  REQUIRE(w.boot());
  w.settle();
  CHECK(m.executed == many);
  CHECK(w.look(run->run).waits.front().reason.find("child ") == 0);
  CHECK(w.row(run->run)->crashes == 0);

  SECTION("cancelled while only a part is there, its child is found all the same (P7, P11)") {
    w.crash();
    w.fail_reads_after_boot = 1;
    REQUIRE(w.boot());
    // The first part, then no more for a while.
    w.pass_time(duration{1000});
    w.settle();
    REQUIRE(w.cancel(run->run));
    w.settle();
    for (const auto& [id, r] : w.disk->runs)
      CHECK(r.row.status == run_status::cancelled);
  }
  SECTION("a part that cannot be read is asked for again (F10)") {
    w.crash();
    REQUIRE(w.boot());
    w.settle();
    w.crash();
    w.fail_reads_after_boot = 3;
    REQUIRE(w.boot());
    w.pass_time(duration{10'000});
    CHECK(w.row(run->run)->status != run_status::parked);
    CHECK(w.look(run->run).waits.front().reason.find("child ") == 0);
  }
}

TEST_CASE("long run: cancelled between two parts of its memo (P11, P13)") {
  static int cleaned;
  cleaned = 0;
  marathon m;
  m.flows
    .add("cleaned",
         [](context& ctx, std::uint64_t steps) -> task<void> {
           auto work = [] { return 1; };
           for (std::uint64_t n = 0; n < steps; ++n)
             co_await ctx.step("n", work);
           co_await ctx.invoke<json::raw>("child", "child", steps);
         })
    .on_failure(+[](context& ctx, std::uint64_t, run_end) -> task<void> {
      auto clean = [] { return ++cleaned; };
      co_await ctx.step("clean", clean);
      co_await ctx.step("clean-more", clean);
    });
  world w{m.flows};
  REQUIRE(w.boot());
  auto run = w.start("cleaned", "20000");
  w.crash();
  for (std::size_t at = 1; at < 40; at += 1) {
    auto disk = std::make_shared<memory_disk>();
    // A copy of the disk as it is now.
    disk->log = w.disk->log;
    disk->runs = w.disk->runs;
    disk->epoch = w.disk->epoch;
    disk->head = w.disk->head;
    cleaned = 0;
    world v{m.flows};
    v.disk = disk;
    v.boot_slowly();
    for (std::size_t n = 0; n < at; ++n)
      v.run_one(0);
    std::optional<result<run_stopped>> answer;
    v.ask_with<run_stopped>(v.core().admission, cancel_run{run->run, "enough"},
                            [&](result<run_stopped> r) { answer = std::move(r); });
    v.settle();
    INFO("cancelled after message " << at);
    REQUIRE(answer);
    if (!*answer) continue; // before the admission knew it
    for (const auto& [id, r] : disk->runs)
      CHECK(r.row.status == run_status::cancelled);
    CHECK(cleaned == 2);
  }
}
