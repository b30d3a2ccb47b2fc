#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct old_page {
  int count = 0;
};
template <class Fields>
void describe(Fields& f, old_page& x) {
  f("count", x.count);
}

/// What a newer build made of it.
struct new_page {
  int count = 0;
  std::string cursor = "none";
};
template <class Fields>
void describe(Fields& f, new_page& x) {
  f("count", x.count);
  f("cursor", x.cursor);
}

} // namespace

TEST_CASE("values: now, random and uuid are the same at every replay (P15)") {
  std::vector<std::string> seen;
  catalog flows;
  flows.add("draw", [&](context& ctx, std::string) -> task<void> {
    std::string all;
    for (int i = 0; i < 3; ++i) {
      all += std::to_string(to_millis(ctx.now())) + " " + std::to_string(ctx.random()) + " "
             + to_string(ctx.make_uuid()) + "; ";
      co_await ctx.sleep("rest", duration{1000});
    }
    seen.push_back(all);
    co_await ctx.wait("hold", "go", "x");
  });
  world w{flows};
  REQUIRE(w.boot());
  const auto begin = w.now();
  REQUIRE(w.start("draw", R"("")"));
  w.pass_time(duration{500});
  w.crash();
  w.pass_time(duration{300});
  REQUIRE(w.boot());
  w.pass_time(duration{10'000});
  for (int i = 0; i < 2; ++i) {
    w.crash();
    w.pass_time(duration{777});
    REQUIRE(w.boot());
    w.settle();
  }
  REQUIRE(seen.size() == 3);
  CHECK(seen[0] == seen[1]);
  CHECK(seen[1] == seen[2]);
  CHECK(seen[0].find(std::to_string(to_millis(begin))) == 0);
  // Another run draws other values.
  REQUIRE(w.start("draw", R"("")"));
  w.pass_time(duration{10'000});
  CHECK(seen.back() != seen.front());
}

TEST_CASE("versions: an old run takes the old branch, a new run the new one (P16)") {
  bool newer = false;
  catalog flows;
  flows.add("change", [&](context& ctx, std::string) -> task<std::string> {
    auto work = [](const attempt& a) { return std::string{a.step()}; };
    auto all = co_await ctx.step("one", work);
    if (newer) {
      const auto v = co_await ctx.version("faster", 2);
      all += v >= 2 ? co_await ctx.step("new", work) : co_await ctx.step("old", work);
    } else {
      all += co_await ctx.step("old", work);
    }
    co_await ctx.wait("hold", "go", "x");
    co_return all;
  });
  world w{flows};
  REQUIRE(w.boot());
  auto before = w.start("change", R"("")");
  w.crash();
  newer = true;
  REQUIRE(w.boot());
  w.settle();
  auto after = w.start("change", R"("")");
  // A crash after the version was recorded: the same branch again.
  w.crash();
  REQUIRE(w.boot());
  w.settle();
  REQUIRE(w.publish("go", "x"));
  CHECK(w.outcome(before->run)->result.text == R"("oneold")");
  CHECK(w.outcome(after->run)->result.text == R"("onenew")");
}

TEST_CASE("versions: killed at every message, one branch is taken (P16)") {
  std::uint32_t newest = 1;
  catalog flows;
  flows.add("change", [&](context& ctx, std::string) -> task<std::uint32_t> {
    const auto first = co_await ctx.version("a", newest);
    auto work = [&] { return 1; };
    co_await ctx.step("one", work);
    const auto again = co_await ctx.version("a", newest);
    co_return first * 10 + again;
  });
  story s{
    .flows = flows,
    .begin =
      [&](world& w) {
        newest = w.disk->head == 0 ? 1 : 2;
        request_later(w, keyed_request("change", R"("")", "k"));
      },
    .done = [](const world& w) { return !result_of(w, "k").empty(); },
    .check =
      [](const world& w) { CHECK((result_of(w, "k") == "11" || result_of(w, "k") == "22")); }};
  CHECK(killed_at_every_message(s) > 10);
}

TEST_CASE("versions: results of an older build are read, missing fields have defaults (P16)") {
  bool newer = false;
  catalog flows;
  flows.add("page", [&](context& ctx, std::string) -> task<std::string> {
    std::string text;
    if (newer) {
      auto work = [] { return new_page{9, "next"}; };
      auto page = co_await ctx.step("fetch", work);
      text = std::to_string(page.count) + page.cursor;
    } else {
      auto work = [] { return old_page{7}; };
      text = std::to_string((co_await ctx.step("fetch", work)).count);
    }
    co_await ctx.wait("hold", "go", "x");
    co_return text;
  });
  world w{flows};
  REQUIRE(w.boot());
  auto up = w.start("page", R"("")");
  w.crash();
  newer = true;
  REQUIRE(w.boot());
  w.settle();
  auto down = w.start("page", R"("")");
  w.crash();
  newer = false; // and back again: what the older build does not know it leaves alone
  REQUIRE(w.boot());
  w.settle();
  newer = true;
  w.crash();
  REQUIRE(w.boot());
  w.settle();
  REQUIRE(w.publish("go", "x"));
  CHECK(w.outcome(up->run)->result.text == R"("7none")");
  CHECK(w.outcome(down->run)->result.text == R"("9next")");
}

TEST_CASE("versions: a result that this build cannot read parks its run (P16, P14)") {
  bool newer = false;
  catalog flows;
  flows.add("page", [&](context& ctx, std::string) -> task<void> {
    if (newer) {
      auto work = [] { return std::uint64_t{1}; };
      try {
        co_await ctx.step("fetch", work);
      } catch (const std::exception&) {
        // A workflow that forgives everything does not get hold of this.
      }
    } else {
      auto work = [] { return std::string{"text"}; };
      co_await ctx.step("fetch", work);
    }
    co_await ctx.wait("hold", "go", "x");
  });
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("page", R"("")");
  w.crash();
  newer = true;
  REQUIRE(w.boot());
  w.settle();
  CHECK(w.row(run->run)->status == run_status::parked);
  CHECK(w.row(run->run)->reason.find("step 'fetch' cannot be read") != std::string::npos);
  newer = false;
  REQUIRE(w.resume(run->run));
  REQUIRE(w.publish("go", "x"));
  CHECK(w.row(run->run)->status == run_status::completed);
}

TEST_CASE("versions: a workflow that this build does not have parks its runs (P16)") {
  catalog old_build;
  auto hold = [](context& ctx, std::string) -> task<void> { co_await ctx.wait("hold", "go", "x"); };
  old_build.add("kept", hold);
  old_build.add("removed", hold);
  catalog new_build;
  new_build.add("kept", hold);
  auto disk = std::make_shared<memory_disk>();
  std::optional<run_id> kept;
  std::optional<run_id> removed;
  {
    world w{old_build};
    w.disk = disk;
    REQUIRE(w.boot());
    kept = w.start("kept", R"("")")->run;
    removed = w.start("removed", R"("")")->run;
  }
  {
    world w{new_build};
    w.disk = disk;
    REQUIRE(w.boot());
    w.settle();
    CHECK(w.row(*kept)->status == run_status::running);
    CHECK(w.row(*removed)->status == run_status::parked);
    CHECK(w.row(*removed)->reason.find("unknown workflow") == 0);
    CHECK(refused(w.cancel(*removed), errc::conflict));
    CHECK(refused(w.resume(*removed), errc::conflict));
  }
  world w{old_build};
  w.disk = disk;
  REQUIRE(w.boot());
  REQUIRE(w.resume(*removed));
  REQUIRE(w.publish("go", "x"));
  CHECK(w.row(*removed)->status == run_status::completed);
}
