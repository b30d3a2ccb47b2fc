#include "rules/delivery.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

constexpr timestamp noon = from_millis(1'763'467'200'000); // 2025-11-18T12:00:00Z

http_response answer(int status, std::string retry_after = {}) {
  http_response r;
  r.status = status;
  if (!retry_after.empty()) r.headers.push_back({"retry-after", std::move(retry_after)});
  return r;
}

/// How many answers of that kind it takes until the event is given up; 0: more than a thousand.
int given_up_after(delivery_verdict verdict, delivery_moment at) {
  delivery_tries tries;
  for (int n = 1; n <= 1000; ++n) {
    ++tries.sent;
    if (after_delivery(verdict, tries, at, {}, 1).next == delivery_next::give_up) return n;
  }
  return 0;
}

} // namespace

TEST_CASE("delivery rule: what each answer means (B15, B18)") {
  using enum delivery_verdict;
  for (int status : {200, 201, 202, 204, 299, 409})
    CHECK(judge(answer(status)) == accepted);
  for (int status : {400, 403, 404, 410, 413, 422, 451, 499})
    CHECK(judge(answer(status)) == refused);
  for (int status : {0, 100, 301, 302, 408, 425, 500, 502, 503, 504, 599})
    CHECK(judge(answer(status)) == failed);
  CHECK(judge(answer(401)) == unauthorized);
  CHECK(judge(answer(429)) == limited);
  auto cut_off = answer(204);
  cut_off.error = "the stream was reset";
  CHECK(judge(cut_off) == failed);
}

TEST_CASE("delivery rule: when an event is given up (B18)") {
  const delivery_moment closed{true, 0, noon};
  const delivery_moment open{false, 0, noon};
  CHECK(given_up_after(delivery_verdict::refused, closed) == 3);
  CHECK(given_up_after(delivery_verdict::refused, open) == 3);
  CHECK(given_up_after(delivery_verdict::failed, closed) == 10);
  CHECK(given_up_after(delivery_verdict::failed, open) == 0);
  CHECK(given_up_after(delivery_verdict::limited, closed) == 0);
  CHECK(given_up_after(delivery_verdict::unauthorized, closed) == 0);
}

TEST_CASE("delivery rule: an event that fails where others pass pays also while it is open (B18)") {
  delivery_tries tries;
  auto fail = [&](bool closed, std::uint64_t accepted) {
    ++tries.sent;
    return after_delivery(delivery_verdict::failed, tries, {closed, accepted, noon}, {}, 1).next;
  };
  CHECK(fail(true, 5) == delivery_next::again);
  CHECK(fail(false, 5) == delivery_next::again);
  CHECK(tries.failures == 1); // nobody else was accepted since
  CHECK(!tries.suspect);
  CHECK(fail(false, 6) == delivery_next::again);
  CHECK(tries.suspect);
  for (int n = 3; n <= 9; ++n)
    CHECK(fail(false, 6) == delivery_next::again);
  CHECK(fail(false, 6) == delivery_next::give_up);
}

TEST_CASE("delivery rule: pauses grow and end at their maximum") {
  delivery_tries tries;
  tries.sent = 1;
  const auto first = after_delivery(delivery_verdict::failed, tries, {true, 0, noon}, {}, 1);
  CHECK(first.at >= noon + 125ms);
  CHECK(first.at < noon + 375ms);
  tries.sent = 60'000;
  const auto late = after_delivery(delivery_verdict::limited, tries, {true, 0, noon}, {}, 1);
  CHECK(late.at == noon + 30s);
}

TEST_CASE("delivery rule: Retry-After in seconds or as a date, never for ever (B15)") {
  CHECK(asked_pause(answer(429, "30"), noon) == duration{30s});
  CHECK(asked_pause(answer(503, "0"), noon) == duration{0});
  CHECK(asked_pause(answer(429, "86400"), noon) == retry_after_max);
  CHECK(asked_pause(answer(429, "99999999999999999999"), noon) == retry_after_max);
  CHECK(asked_pause(answer(503, "Tue, 18 Nov 2025 12:01:05 GMT"), noon) == duration{65s});
  CHECK(asked_pause(answer(503, "Tue, 18 Nov 2025 11:00:00 GMT"), noon) == duration{0});
  for (const auto* bad : {"", "soon", "-5", "1.5", "Tue, 31 Feb 2025 12:01:05 GMT",
                          "Tue, 18 Nov 2025 12:01:05 CET", "Tue, xx Nov 2025 12:01:05 GMT"})
    CHECK(!asked_pause(answer(429, bad), noon));
  CHECK(!asked_pause(answer(200, "30"), noon));
  CHECK(!asked_pause(answer(500, "30"), noon));
}
