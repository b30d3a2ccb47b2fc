#include "rules/backoff.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <set>

using namespace sluice;
using namespace std::chrono_literals;

TEST_CASE("backoff: doubles from 250 ms with a jitter of half to one and a half (P2)") {
  CHECK(rc::check([](std::uint64_t entropy) {
    const backoff_config config;
    for (std::uint32_t attempt = 0; attempt < 5; ++attempt) {
      const auto middle = 250.0 * std::pow(2.0, attempt);
      const auto wait = static_cast<double>(backoff(config, attempt, entropy).count());
      RC_ASSERT(wait >= std::floor(middle * 0.5));
      RC_ASSERT(wait < middle * 1.5);
    }
  }));
}

TEST_CASE("backoff: the jitter reaches both ends, also for entropy of a few bits (P2)") {
  const backoff_config config{.retries = 3, .initial = 1000ms, .factor = 2.0, .max = 30s};
  double least = 1500;
  double most = 500;
  double sum = 0;
  for (std::uint64_t entropy = 0; entropy < 1000; ++entropy) {
    const auto wait = static_cast<double>(backoff(config, 0, entropy).count());
    least = std::min(least, wait);
    most = std::max(most, wait);
    sum += wait;
  }
  // A thousand draws from [500, 1500): each end is missed by 1 % with probability e^-10; the mean's
  // standard deviation is 9.
  CHECK(least < 510);
  CHECK(most > 1490);
  CHECK(std::abs(sum / 1000 - 1000) < 50);
}

TEST_CASE("backoff: is the same for the same entropy and differs between attempts (P2, P15)") {
  const backoff_config config{.retries = 3, .initial = 10s, .factor = 1.0, .max = 30s};
  std::set<duration> waits;
  for (std::uint32_t attempt = 0; attempt < 10; ++attempt) {
    CHECK(backoff(config, attempt, 7) == backoff(config, attempt, 7));
    waits.insert(backoff(config, attempt, 7));
  }
  CHECK(waits.size() > 5);
}

TEST_CASE("backoff: never exceeds its maximum nor overflows (P2)") {
  CHECK(rc::check([](std::uint32_t attempt, std::uint64_t entropy, std::uint32_t initial) {
    const backoff_config config{
      .retries = 3, .initial = duration{initial}, .factor = 2.0, .max = 30s};
    const auto wait = backoff(config, attempt, entropy);
    RC_ASSERT(wait >= 0ms);
    RC_ASSERT(wait <= 30s);
  }));
  const backoff_config config;
  CHECK(backoff(config, 60, 1) == 30s);
  CHECK(backoff(config, std::numeric_limits<std::uint32_t>::max(), 1) == 30s);
  const backoff_config endless{
    .retries = 3, .initial = 250ms, .factor = 2.0, .max = duration::max()};
  CHECK(backoff(endless, 5000, 1) == duration::max());
  const backoff_config at_once{.retries = 3, .initial = 0ms, .factor = 2.0, .max = 30s};
  CHECK(backoff(at_once, std::numeric_limits<std::uint32_t>::max(), 1) == 0ms);
  const backoff_config absurd{.retries = 3, .initial = 250ms, .factor = -2.0, .max = 30s};
  CHECK(backoff(absurd, 1, 1) >= 0ms);
}
