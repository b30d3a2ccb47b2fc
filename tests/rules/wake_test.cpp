#include "rules/wake.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

constexpr timestamp since = from_millis(1'700'000'000'000);
constexpr timestamp until = since + 1h;

} // namespace

TEST_CASE("wake: a wait keeps its end while time goes forward (I12, I20)") {
  CHECK(cut_wait(since, until, since) == until);
  CHECK(cut_wait(since, until, since + 10min) == until);
  CHECK(cut_wait(since, until, since + 24h) == until); // due: that time passed
}

TEST_CASE("wake: a clock that went back cuts the wait to its own duration (I20)") {
  CHECK(cut_wait(since, until, since - 1ms) == until - 1ms);
  CHECK(cut_wait(since, until, since - 24h) == since - 24h + 1h);
}

TEST_CASE("wake: an open end stays open, a wait of nothing is due (I20)") {
  CHECK(cut_wait(since, never, since - 24h) == never);
  CHECK(cut_wait(since, since - 1h, since - 24h) == since - 24h);
  CHECK(cut_wait(since, timestamp::max(), since - 24h) == timestamp::max() - 24h);
}

TEST_CASE("wake: nobody waits longer than was meant (I12, I20)") {
  CHECK(rc::check([](std::int32_t wait, std::int32_t jump) {
    const auto meant = duration{std::max(wait, 0)};
    const auto now = since + duration{jump};
    const auto end = cut_wait(since, since + meant, now);
    RC_ASSERT(end - now <= meant);
    // Never early either: by the clock as it was, or by its whole duration from now.
    RC_ASSERT(end == since + meant || end == now + meant);
  }));
}
