#include "tests/support/story.hpp"
#include "workflows/errors.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace sluice;

namespace {

/// A workflow of one step whose work is given by the test, and when it was tried.
struct tried {
  std::vector<timestamp> at;
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> keys;
  std::function<int(std::uint32_t number)> work;
  world* clock = nullptr;

  int operator()(const attempt& a) {
    at.push_back(clock->now());
    numbers.push_back(a.number());
    keys.push_back(a.idempotency_key());
    return work(a.number());
  }
  [[nodiscard]] std::vector<duration> waits() const {
    std::vector<duration> all;
    for (std::size_t i = 1; i < at.size(); ++i)
      all.push_back(at[i] - at[i - 1]);
    return all;
  }
};

task<int> one_step(context& ctx, tried& t) {
  auto work = [&](const attempt& a) { return t(a); };
  co_return co_await ctx.step("try", work);
}

struct attempt_seen {
  std::string step;
  std::uint32_t attempt = 0;
  bool last = false;
  failure error;
};
template <class Fields>
void describe(Fields& f, attempt_seen& x) {
  f("step", x.step);
  f("attempt", x.attempt);
  f("last", x.last);
  f("error", x.error);
}

std::vector<attempt_seen> failed_attempts(const world& w) {
  std::vector<attempt_seen> all;
  for (const auto& e : w.events(event_kind::step_failed))
    all.push_back(*json::decode<attempt_seen>(e.data));
  return all;
}

struct fixture {
  tried t;
  catalog flows;
  std::unique_ptr<world> w;
  std::optional<run_id> run;

  explicit fixture(std::function<int(std::uint32_t)> work) {
    t.work = std::move(work);
    flows.add("try", [this](context& ctx, std::string) { return one_step(ctx, t); });
    w = std::make_unique<world>(flows);
    t.clock = w.get();
    REQUIRE(w->boot());
    run = w->start("try", R"("")")->run;
  }
};

} // namespace

TEST_CASE("attempts: three retries with doubling backoff and jitter, then failure (P2)") {
  fixture f{[](std::uint32_t n) -> int { throw std::runtime_error{"no " + std::to_string(n)}; }};
  f.w->pass_time(duration{60'000});
  CHECK(f.t.numbers == std::vector<std::uint32_t>{0, 1, 2, 3});
  const auto waits = f.t.waits();
  REQUIRE(waits.size() == 3);
  // min(250 ms · 2^n · jitter in [0.5, 1.5), 30 s)
  for (std::size_t n = 0; n < 3; ++n) {
    const auto base = 250LL << n;
    CHECK(waits[n].count() >= base / 2);
    CHECK(waits[n].count() <= base * 3 / 2 + 1);
  }
  CHECK(f.w->outcome(*f.run)->status == run_status::failed);
  CHECK(f.w->outcome(*f.run)->error->step == "try");
  CHECK(f.w->outcome(*f.run)->error->message == "no 3");
}

TEST_CASE("attempts: every one is in the journal with its error (P2)") {
  fixture f{[](std::uint32_t n) -> int { throw std::runtime_error{"no " + std::to_string(n)}; }};
  f.w->pass_time(duration{60'000});
  const auto failed = failed_attempts(*f.w);
  REQUIRE(failed.size() == 4);
  for (std::uint32_t n = 0; n < 4; ++n) {
    CHECK(failed[n].step == "try");
    CHECK(failed[n].attempt == n + 1);
    CHECK(failed[n].error.message == "no " + std::to_string(n));
    CHECK(failed[n].last == (n == 3));
  }
}

TEST_CASE("attempts: their number and their key survive a crash (P2, I9)") {
  fixture f{[](std::uint32_t n) -> int {
    if (n < 3) throw std::runtime_error{"no"};
    return 7;
  }};
  REQUIRE(crash_when(*f.w, [&] { return failed_attempts(*f.w).size() == 2; }));
  REQUIRE(f.w->boot());
  f.w->pass_time(duration{60'000});
  CHECK(f.t.numbers == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(f.w->outcome(*f.run)->result.text == "7");
  for (const auto& key : f.t.keys)
    CHECK(key == f.t.keys.front());
}

TEST_CASE("attempts: non_retriable ends the step at once (P3)") {
  fixture f{[](std::uint32_t) -> int { throw non_retriable{"gone", "it is gone"}; }};
  f.w->pass_time(duration{60'000});
  CHECK(f.t.at.size() == 1);
  CHECK(f.w->outcome(*f.run)->error->code == "gone");
  REQUIRE(failed_attempts(*f.w).size() == 1);
  CHECK(failed_attempts(*f.w).front().last);
}

TEST_CASE("attempts: retry_after waits exactly that and counts (P3)") {
  fixture f{[](std::uint32_t n) -> int {
    if (n < 9) throw retry_after{duration{1234}, "busy"};
    return 1;
  }};
  f.w->pass_time(duration{60'000});
  CHECK(f.t.waits() == std::vector<duration>(3, duration{1234}));
  CHECK(f.w->outcome(*f.run)->status == run_status::failed);
}

TEST_CASE("attempts: wait_until uses none, and the step is run again at that time (P3)") {
  timestamp open{};
  world* clock = nullptr;
  fixture f{[&](std::uint32_t) -> int {
    if (clock == nullptr || clock->now() < open) throw wait_until{open, "gate"};
    return 5;
  }};
  // The first try happened inside the fixture, with a gate that is open at once: again, still shut.
  clock = f.w.get();
  open = f.w->now() + duration{90'000};
  f.w->pass_time(duration{100'000});
  CHECK(f.w->outcome(*f.run)->result.text == "5");
  for (auto n : f.t.numbers)
    CHECK(n == 0);
  CHECK(f.t.at.back() == open);
  CHECK(failed_attempts(*f.w).empty());
}

TEST_CASE("attempts: a step's own options go before the workflow's and the node's (P2)") {
  int tries = 0;
  catalog flows;
  backoff_config twice{2, duration{10}, 1.0, duration{10}};
  backoff_config once{1, duration{10}, 1.0, duration{10}};
  flows
    .add("own",
         [&](context& ctx, bool own) -> task<void> {
           auto work = [&] {
             ++tries;
             throw std::runtime_error{"no"};
           };
           step_options o;
           if (own) o.retry = once;
           co_await ctx.step("try", work, o);
         })
    .retry(twice);
  world w{flows};
  REQUIRE(w.boot());
  REQUIRE(w.start("own", "false"));
  w.pass_time(duration{1000});
  CHECK(tries == 3);
  REQUIRE(w.start("own", "true"));
  w.pass_time(duration{1000});
  CHECK(tries == 5);
}

TEST_CASE("attempts: a workflow may catch a failed step, and a replay sees the same (P3, F2)") {
  int round = 0;
  catalog flows;
  flows.add("catch", [&](context& ctx, std::string) -> task<std::string> {
    std::string seen;
    auto work = [&]() -> int { throw non_retriable{"no", "text " + std::to_string(++round)}; };
    try {
      co_await ctx.step("try", work);
    } catch (const step_failed& e) {
      seen = e.why().code + ": " + e.what();
    }
    co_await ctx.sleep("rest", duration{1000});
    co_return seen;
  });
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("catch", R"("")");
  w.crash();
  REQUIRE(w.boot());
  w.pass_time(duration{2000});
  CHECK(w.outcome(run->run)->result.text == R"("no: text 1")");
}
