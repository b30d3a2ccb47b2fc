#include "rules/rate_headers.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

// 2026-11-18T11:49:05Z
constexpr std::int64_t now_seconds = 1'795'002'545;
constexpr timestamp now = from_millis(now_seconds * 1000);

using headers = std::vector<http_header>;

std::string in(std::int64_t seconds) {
  return std::to_string(now_seconds + seconds);
}

headers budget(std::string limit, std::string remaining, std::string reset) {
  return {{.name = "X-RateLimit-Limit", .value = std::move(limit)},
          {.name = "X-RateLimit-Remaining", .value = std::move(remaining)},
          {.name = "X-RateLimit-Reset", .value = std::move(reset)}};
}

rate_hint read(int status, headers h, std::string_view message = {},
               std::optional<timestamp> body_reset = {}) {
  http_response r;
  r.status = status;
  r.headers = std::move(h);
  return read_rate(r, message, body_reset, now);
}

headers operator+(headers a, const headers& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

headers retry_after(std::string value) {
  return {{.name = "retry-after", .value = std::move(value)}};
}

} // namespace

TEST_CASE("rate_headers: an answer within the budget asks for nothing (B14)") {
  auto r = read(200, budget("5000", "4999", in(600))
                       + headers{{.name = "x-ratelimit-used", .value = "1"},
                                 {.name = "x-ratelimit-resource", .value = "core"}});
  CHECK(r.kind == rate_kind::none);
  CHECK(r.limit == 5000u);
  CHECK(r.remaining == 4999u);
  CHECK(r.used == 1u);
  CHECK(r.resource == "core");
  CHECK(r.reset_at == now + 10min);
  CHECK(r.wait_until == never);
  CHECK(read(200, {}) == rate_hint{});
}

TEST_CASE("rate_headers: below a tenth of the limit everybody waits for the reset (B14)") {
  CHECK(read(200, budget("5000", "500", in(600))).kind == rate_kind::none);
  const auto low = read(200, budget("5000", "499", in(600)));
  CHECK(low.kind == rate_kind::low_budget);
  CHECK(low.wait_until == now + 10min);
  // Also on an answer that failed for another reason.
  CHECK(read(404, budget("5000", "0", in(600))).kind == rate_kind::low_budget);
  CHECK(read(502, budget("60", "3", in(60))).kind == rate_kind::low_budget);
  // Without a reset it is asked again after a minute.
  CHECK(read(200, budget("5000", "1", "")).wait_until == now + 60s);
  CHECK(read(200, budget("0", "0", in(600))).kind == rate_kind::none);
}

TEST_CASE("rate_headers: 403 and 429 with nothing remaining are the primary limit (B14, B23)") {
  for (int status : {403, 429}) {
    const auto r = read(status, budget("5000", "0", in(1800)), "API rate limit exceeded for ID 1");
    CHECK(r.kind == rate_kind::primary_limit);
    // One second later than the reset, which is in whole seconds.
    CHECK(r.wait_until == now + 1801s);
  }
  CHECK(read(403, {}, "API rate limit exceeded for 1.2.3.4").kind == rate_kind::primary_limit);
  CHECK(read(403, {}, "API rate limit exceeded for 1.2.3.4").wait_until == now + 60s);
}

TEST_CASE("rate_headers: a secondary limit with retry-after waits exactly that (B14, B23)") {
  const auto message = "You have exceeded a secondary rate limit. Please wait a few minutes.";
  const auto r = read(403, budget("5000", "4000", in(1800)) + retry_after("120"), message);
  CHECK(r.kind == rate_kind::secondary_limit);
  CHECK(r.retry_after == 120s);
  CHECK(r.wait_until == now + 120s);
}

TEST_CASE("rate_headers: a secondary limit without retry-after waits a minute (B14, B23)") {
  for (const char* message : {"You have exceeded a SECONDARY rate limit.",
                              "You have triggered an abuse detection mechanism."}) {
    const auto r = read(403, budget("5000", "4000", in(1800)), message);
    CHECK(r.kind == rate_kind::secondary_limit);
    CHECK(r.wait_until == now + 60s);
  }
  const auto other = read(429, budget("5000", "4000", in(1800)));
  CHECK(other.kind == rate_kind::secondary_limit);
  CHECK(other.wait_until == now + 60s);
}

TEST_CASE("rate_headers: any other 403 is no limit (B23)") {
  const auto r =
    read(403, budget("5000", "4000", in(1800)), "Resource not accessible by integration");
  CHECK(r.kind == rate_kind::none);
  CHECK(r.wait_until == never);
}

TEST_CASE("rate_headers: retry-after wins over the reset (B14)") {
  const auto r = read(403, budget("5000", "0", in(1800)) + retry_after("5"));
  CHECK(r.kind == rate_kind::primary_limit);
  CHECK(r.wait_until == now + 5s);
  CHECK(read(429, retry_after("0")).wait_until == now + 1s);
}

TEST_CASE("rate_headers: retry-after may be a date, and may be nonsense (B14)") {
  CHECK(read(429, retry_after("Wed, 18 Nov 2026 11:50:05 GMT")).retry_after == 60s);
  CHECK(read(429, retry_after("1.5")).retry_after == 2s);
  CHECK(read(429, retry_after("999999999999999999999999")).retry_after == rate_wait_max);
  for (const char* wrong : {"soon", "-5", "", "0x10", "1e3", "Infinity"}) {
    INFO(wrong);
    const auto r = read(429, retry_after(wrong));
    CHECK_FALSE(r.retry_after);
    CHECK(r.wait_until == now + 60s);
  }
}

TEST_CASE("rate_headers: a 503 that names a wait is obeyed, and is no limit (B14)") {
  const auto r = read(503, retry_after("30"));
  CHECK(r.kind == rate_kind::none);
  CHECK(r.wait_until == now + 30s);
  CHECK(read(503, {}).wait_until == never);
}

TEST_CASE("rate_headers: a reset in the past does not stall and does not spin (B14)") {
  for (const auto& past : {in(-3600), std::string{"0"}, std::string{"1"}}) {
    CHECK(read(200, budget("5000", "1", past)).wait_until == now);
    CHECK(read(403, budget("5000", "0", past)).wait_until == now + 1s);
  }
}

TEST_CASE("rate_headers: a reset far in the future is bounded (B14)") {
  for (const auto& far :
       {in(1'000'000), std::string{"99999999999"}, std::string{"999999999999999"}}) {
    CHECK(read(200, budget("5000", "1", far)).wait_until == now + rate_wait_max);
    CHECK(read(403, budget("5000", "0", far)).wait_until == now + rate_wait_max);
  }
  // Too long to be a number at all: as if it were not there.
  CHECK(read(403, budget("5000", "0", std::string(40, '9'))).wait_until == now + 60s);
}

TEST_CASE("rate_headers: a clock that is two minutes off does not matter (B14)") {
  // The provider's clock shows 11:47:05, ours 11:49:05; its reset is ten minutes from its now.
  const headers date{{.name = "Date", .value = "Wed, 18 Nov 2026 11:47:05 GMT"}};
  CHECK(read(403, budget("5000", "0", in(-120 + 600)) + date).wait_until == now + 601s);
  const headers ahead{{.name = "Date", .value = "Wed, 18 Nov 2026 11:51:05 GMT"}};
  CHECK(read(403, budget("5000", "0", in(120 + 600)) + ahead).wait_until == now + 601s);
  CHECK(read(429, retry_after("Wed, 18 Nov 2026 11:48:05 GMT") + date).retry_after == 60s);
}

TEST_CASE("rate_headers: Vercel's seconds, milliseconds and the reset of its body (B14, B24)") {
  CHECK(read(200, budget("100", "5", in(60))).wait_until == now + 60s);
  CHECK(read(200, budget("100", "5", in(60) + "500")).wait_until == now + 60500ms);
  const auto r = read(429, {}, "Too many requests", now + 42s);
  CHECK(r.kind == rate_kind::primary_limit);
  CHECK(r.reset_at == now + 42s);
  CHECK(r.wait_until == now + 43s);
  CHECK(read(429, budget("100", "0", in(600)), "", now + 42s).wait_until == now + 43s);
}

TEST_CASE("rate_headers: whatever stands there, a wait is bounded (B14, S13)") {
  rc::check([](int status, const std::string& limit, const std::string& remaining,
               const std::string& reset, const std::string& wait, const std::string& date,
               const std::string& message, std::int64_t body) {
    const auto r = read(status,
                        budget(limit, remaining, reset) + retry_after(wait)
                          + headers{{.name = "Date", .value = date}},
                        message, from_millis(body));
    RC_ASSERT(r.wait_until == never || r.wait_until >= now);
    RC_ASSERT(r.wait_until <= now + rate_wait_max);
    RC_ASSERT(!r.reset_at || (*r.reset_at >= now && *r.reset_at <= now + rate_wait_max));
  });
}
