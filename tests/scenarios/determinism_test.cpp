#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

/// Which build of the workflow runs.
enum class code { right, renamed, reordered, removed, added, other_kind, shorter, parallel };

struct builds {
  code now = code::right;
  std::vector<std::string> effects;
  catalog flows;

  builds() {
    flows.add("story", [this](context& ctx, std::string) { return tell(ctx); });
  }

  task<std::string> tell(context& ctx) {
    auto work = [this](const attempt& a) {
      effects.emplace_back(a.step());
      return std::string{a.step()};
    };
    std::string first = now == code::reordered ? "two" : "one";
    std::string second = now == code::renamed     ? "deux"
                         : now == code::reordered ? "one"
                         : now == code::added     ? "new"
                                                  : "two";
    if (now == code::shorter) co_return co_await ctx.step("one", work);
    if (now == code::parallel) {
      auto [a, b, c] =
        co_await ctx.all(ctx.step("zero", work), ctx.step("one", work), ctx.step("two", work));
      co_return a + b + c;
    }
    auto all = co_await ctx.step(first, work);
    if (now == code::other_kind)
      co_await ctx.sleep("two", duration{1});
    else if (now != code::removed)
      all += co_await ctx.step(second, work);
    co_await ctx.wait("hold", "go", "x");
    all += co_await ctx.step("three", work);
    co_return all;
  }
};

} // namespace

TEST_CASE("determinism: other steps than the journal's park the run before any effect (P14, I7)") {
  struct change {
    code what;
    const char* journal;
    const char* asked;
  };
  const auto c = GENERATE(change{code::renamed, "work 'two'", "work 'deux'"},
                          change{code::reordered, "work 'one'", "work 'two'"},
                          change{code::removed, "work 'two'", "wait 'hold'"},
                          change{code::added, "work 'two'", "work 'new'"},
                          change{code::other_kind, "work 'two'", "sleep 'two'"},
                          change{code::shorter, "step 'two'", "the code has come to its end"},
                          change{code::parallel, "work 'one'", "work 'zero'"});
  builds b;
  world w{b.flows};
  REQUIRE(w.boot());
  auto run = w.start("story", R"("")");
  REQUIRE(b.effects == std::vector<std::string>{"one", "two"});
  REQUIRE(w.publish("go", "y"));
  w.crash();
  b.now = c.what;
  REQUIRE(w.boot());
  const auto records = w.history(run->run).size();
  w.pass_time(duration{120'000});
  REQUIRE(w.row(run->run)->status == run_status::parked);
  const auto reason = w.row(run->run)->reason;
  INFO(reason);
  CHECK(reason.find("nondeterministic: ") == 0);
  CHECK(reason.find(c.journal) != std::string::npos);
  CHECK(reason.find(c.asked) != std::string::npos);
  CHECK(b.effects.size() == 2);
  CHECK(w.history(run->run).size() == records);
  // The event that it waited for comes while it is parked; the right code takes it.
  REQUIRE(w.publish("go", "x"));
  b.now = code::right;
  REQUIRE(w.resume(run->run));
  w.settle();
  CHECK(w.outcome(run->run)->result.text == R"("onetwothree")");
  CHECK(b.effects == std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("determinism: a parked run stays so over a restart and holds nobody up (P14, I27)") {
  builds b;
  world w{b.flows};
  REQUIRE(w.boot());
  auto run = w.start("story", R"("")");
  w.crash();
  b.now = code::renamed;
  REQUIRE(w.boot());
  w.settle();
  auto fresh = w.start("story", R"("")");
  w.crash();
  REQUIRE(w.boot());
  w.settle();
  CHECK(w.row(run->run)->status == run_status::parked);
  CHECK(w.row(fresh->run)->status == run_status::running);
  CHECK(w.count().parked == 1);
  CHECK(w.count().hosted == 1);
}

TEST_CASE("determinism: resuming twice at once is one resume (P14)") {
  builds b;
  world w{b.flows};
  REQUIRE(w.boot());
  auto run = w.start("story", R"("")");
  w.crash();
  b.now = code::renamed;
  REQUIRE(w.boot());
  w.settle();
  b.now = code::right;
  int yes = 0;
  for (int i = 0; i < 2; ++i)
    w.ask_with<run_resumed>(w.core().admission, resume_run{run->run},
                            [&](const result<run_resumed>& r) { yes += r ? 1 : 0; });
  w.settle();
  CHECK(yes == 1);
  CHECK(w.count().hosted == 1);
  CHECK(!w.resume(run->run));
  REQUIRE(w.publish("go", "x"));
  CHECK(w.row(run->run)->status == run_status::completed);
}
