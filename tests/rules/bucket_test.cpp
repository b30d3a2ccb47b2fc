#include "base/json.hpp"
#include "rules/bucket.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <vector>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

constexpr timestamp start = from_millis(1'700'000'000'000);

} // namespace

TEST_CASE("bucket: a burst up to the limit, then the rate (P10)") {
  const bucket_config config{.limit = 3, .period = 30s};
  bucket b;
  for (int i = 0; i < 3; ++i) {
    const auto a = take(b, 1, config, start);
    CHECK(a.granted);
    CHECK(a.at == start);
    b = a.next;
  }
  const auto refused = take(b, 1, config, start);
  CHECK_FALSE(refused.granted);
  CHECK(refused.at == start + 10s);
  CHECK(take(refused.next, 2, config, start).at == start + 20s);
  CHECK_FALSE(take(refused.next, 1, config, start + 9'999ms).granted);
  CHECK(take(refused.next, 1, config, start + 10s).granted);
}

TEST_CASE("bucket: is full again after its period and never fuller (P10)") {
  const bucket_config config{.limit = 3, .period = 30s};
  auto b = take({}, 3, config, start).next;
  b = take(b, 3, config, start + 24h).next;
  CHECK_FALSE(take(b, 1, config, start + 24h).granted);
}

TEST_CASE(
  "bucket: time that runs backwards refills nothing, and does not stall either (P10, I20)") {
  const bucket_config config{.limit = 1, .period = 10s};
  const auto b = take({}, 1, config, start).next;
  const auto back = take(b, 1, config, start - 1h);
  CHECK_FALSE(back.granted);
  CHECK(back.at == start - 1h + 10s);
  CHECK(take(back.next, 1, config, back.at).granted);
}

TEST_CASE("bucket: more than the limit waits for a full bucket and leaves a debt (P10)") {
  const bucket_config config{.limit = 2, .period = 2s};
  const auto first = take({}, 5, config, start);
  CHECK(first.granted);
  CHECK(take(first.next, 1, config, start).at == start + 4s);
}

TEST_CASE("bucket: a limit of nothing and a period of nothing (P10)") {
  const auto closed = take({}, 1, {.limit = 0, .period = 1s}, start);
  CHECK_FALSE(closed.granted);
  CHECK(closed.at == timestamp::max());
  CHECK(take({}, 1000, {.limit = 1, .period = 0s}, start).granted);
}

TEST_CASE("bucket: a changed limit needs no conversion (P10)") {
  const auto b = take({}, 10, {.limit = 10, .period = 10s}, start).next;
  CHECK(take(b, 5, {.limit = 20, .period = 10s}, start).granted);
  CHECK_FALSE(take(b, 1, {.limit = 5, .period = 10s}, start).granted);
}

TEST_CASE("bucket: grants at the instant it named, not before (P10)") {
  CHECK(rc::check([] {
    const bucket_config config{.limit = *rc::gen::inRange<std::uint32_t>(1, 100'000),
                               .period = duration{*rc::gen::inRange(1, 100'000'000)}};
    bucket b;
    auto now = start;
    const auto requests = *rc::gen::container<std::vector<std::uint32_t>>(
      rc::gen::inRange<std::uint32_t>(1, config.limit + 1));
    for (auto units : requests) {
      auto a = take(b, units, config, now);
      if (!a.granted) {
        RC_ASSERT(a.at > now);
        RC_ASSERT(!take(a.next, units, config, a.at - 1ms).granted);
        now = a.at;
        a = take(a.next, units, config, now);
      }
      RC_ASSERT(a.granted);
      b = a.next;
    }
  }));
}

TEST_CASE("bucket: never grants more than a burst and the rate (P10)") {
  CHECK(rc::check([](const std::vector<std::uint8_t>& gaps) {
    const bucket_config config{.limit = 7, .period = 1s};
    bucket b;
    auto now = start;
    double granted = 0;
    for (auto gap : gaps) {
      now += duration{gap};
      const auto a = take(b, 1, config, now);
      b = a.next;
      if (a.granted) granted += 1;
      RC_ASSERT(granted <= 7 + 7 * static_cast<double>((now - start).count()) / 1000 + 1e-3);
    }
  }));
}

TEST_CASE("bucket: survives the journal (P10)") {
  const bucket_config config{.limit = 7, .period = 1s};
  auto b = take({}, 5, config, start).next;
  b = take(b, 1, config, start + 333ms).next;
  const auto text = json::encode(b);
  auto read = json::decode<bucket>(text);
  REQUIRE(read);
  CHECK(*read == b);
}
