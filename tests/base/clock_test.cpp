#include "base/clock.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;

TEST_CASE("clock: time goes on with steady time, whatever the wall clock does (I20)") {
  const steady_point start{5s};
  const engine_clock clock{from_millis(1'000'000), start};
  CHECK(clock.now(start) == from_millis(1'000'000));
  CHECK(clock.now(start + 1500ms) == from_millis(1'001'500));
}

TEST_CASE("clock: a part of a millisecond is not yet there") {
  const steady_point start{5s};
  const engine_clock clock{from_millis(1'000), start};
  CHECK(clock.now(start + 999us) == from_millis(1'000));
  CHECK(clock.now(start - 1us) == from_millis(999));
  CHECK(clock.now(clock.when(from_millis(1'234))) == from_millis(1'234));
  CHECK(clock.now(clock.when(from_millis(1'234)) - 1ns) == from_millis(1'233));
}

TEST_CASE("clock: RFC 3339 in UTC with milliseconds") {
  // date -u -d @1795002545 → 2026-11-18T11:49:05Z
  CHECK(to_rfc3339(from_millis(1'795'002'545'120)) == "2026-11-18T11:49:05.120Z");
  CHECK(to_rfc3339(from_millis(951'782'400'000)) == "2000-02-29T00:00:00.000Z");
  CHECK(to_rfc3339(from_millis(-1)) == "1969-12-31T23:59:59.999Z");
  CHECK(to_rfc3339(never).empty());
}
