#include "workflows/task.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <stdexcept>
#include <string>

using namespace sluice;

namespace {

/// Suspends until somebody resumes it.
struct pause {
  std::coroutine_handle<>& who;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) const noexcept { who = h; }
  void await_resume() const noexcept {}
};

task<int> at_once(int n) {
  co_return n;
}

task<long> many(long count) {
  long sum = 0;
  for (long n = 0; n < count; ++n)
    sum += co_await at_once(1);
  co_return sum;
}

task<int> thrower(int depth, std::coroutine_handle<>* hold) {
  if (depth > 0) co_return co_await thrower(depth - 1, hold);
  if (hold != nullptr) co_await pause{*hold};
  throw std::runtime_error{"deep down"};
}

struct observer : completion {
  int told = 0;
  void completed() override { ++told; }
};

task<void> holder(std::shared_ptr<int> alive, std::coroutine_handle<>& who) {
  co_await pause{who};
  ++*alive;
}

task<void> outer(std::shared_ptr<int> alive, std::coroutine_handle<>& who) {
  co_await holder(alive, who);
}

} // namespace

TEST_CASE("task: lazy, and done when it was started") {
  int runs = 0;
  auto work = [&]() -> task<int> {
    ++runs;
    co_return 5;
  };
  auto t = work();
  CHECK(runs == 0);
  CHECK(!t.done());
  t.start();
  CHECK(runs == 1);
  REQUIRE(t.done());
  CHECK(t.take() == 5);
}

TEST_CASE("task: awaits that end at once do not grow the stack") {
  auto t = many(200'000);
  t.start();
  REQUIRE(t.done());
  CHECK(t.take() == 200'000);
}

TEST_CASE("task: an exception passes through all levels, at once and after a pause") {
  auto now = thrower(5, nullptr);
  now.start();
  REQUIRE(now.done());
  CHECK_THROWS_WITH(now.take(), "deep down");

  std::coroutine_handle<> held;
  observer end;
  auto later = thrower(5, &held);
  later.start(&end);
  CHECK(!later.done());
  held.resume();
  REQUIRE(later.done());
  CHECK(end.told == 1);
  CHECK_THROWS_WITH(later.take(), "deep down");
}

TEST_CASE("task: its observer is told only of an end that comes later") {
  observer end;
  auto t = at_once(1);
  t.start(&end);
  CHECK(end.told == 0);
  CHECK(t.done());
}

TEST_CASE("task: destroyed in the middle, all its frames go") {
  auto alive = std::make_shared<int>(0);
  std::coroutine_handle<> held;
  {
    auto t = outer(alive, held);
    t.start();
    CHECK(alive.use_count() > 1);
  }
  CHECK(alive.use_count() == 1);
  CHECK(*alive == 0);
}

TEST_CASE("task: moving it hands the frame over") {
  auto alive = std::make_shared<int>(0);
  std::coroutine_handle<> held;
  auto first = outer(alive, held);
  first.start();
  auto second = std::move(first);
  CHECK(!first); // NOLINT(bugprone-use-after-move)
  second = {};
  CHECK(alive.use_count() == 1);
}
