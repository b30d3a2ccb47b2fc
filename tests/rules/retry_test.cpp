#include "rules/retry.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

constexpr timestamp now = from_millis(1'000'000);
const backoff_config config{};

retry_decision decide(const failed_attempt& failed, std::uint32_t attempts) {
  return after_failure(failed, attempts, config, 42, now);
}

} // namespace

TEST_CASE("retry: an ordinary failure is tried again after its backoff (P2, P3)") {
  for (std::uint32_t attempts = 1; attempts <= 3; ++attempts) {
    const auto d = decide({}, attempts);
    CHECK(d.action == retry_action::again);
    CHECK(d.at == now + backoff(config, attempts - 1, 42));
    CHECK(d.slot == slot_use::keep);
  }
}

TEST_CASE("retry: three retries make four attempts (P2)") {
  CHECK(decide({}, 3).action == retry_action::again);
  CHECK(decide({}, 4) == retry_decision{});
  CHECK(decide({.kind = failure_kind::retry_after, .after = 1s}, 4) == retry_decision{});
  const backoff_config once{.retries = 0};
  CHECK(after_failure({}, 1, once, 42, now).action == retry_action::give_up);
}

TEST_CASE("retry: what cannot be helped ends the step at once (P3)") {
  CHECK(decide({.kind = failure_kind::non_retriable}, 1) == retry_decision{});
}

TEST_CASE("retry: retry_after waits exactly that (P3)") {
  const auto d = decide({.kind = failure_kind::retry_after, .after = 90s}, 1);
  CHECK(d == retry_decision{retry_action::again, now + 90s, slot_use::keep});
  CHECK(decide({.kind = failure_kind::retry_after, .after = -5s}, 1).at == now);
  CHECK(decide({.kind = failure_kind::retry_after, .after = duration::max()}, 1).at
        == timestamp::max());
}

TEST_CASE("retry: wait_until uses no attempt and says what becomes of the slot (P3, P9)") {
  for (auto slot : {slot_use::keep, slot_use::give_back}) {
    const failed_attempt wait{.kind = failure_kind::wait_until, .until = now + 1h, .slot = slot};
    // Also when every attempt is used: the wait is none.
    for (std::uint32_t attempts : {0u, 3u, 4u, 100u})
      CHECK(decide(wait, attempts) == retry_decision{retry_action::wait, now + 1h, slot});
  }
}

TEST_CASE("retry: a moment that has passed is now (P3)") {
  CHECK(decide({.kind = failure_kind::wait_until, .until = now - 1h}, 0).at == now);
  CHECK(decide({.kind = failure_kind::wait_until, .until = never}, 0).at == now);
}
