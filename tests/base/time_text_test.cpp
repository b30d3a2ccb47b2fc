#include "base/clock.hpp"
#include "base/time_text.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace sluice;

// The numbers are those of `date -u -d … +%s`.
TEST_CASE("time_text: RFC 3339 with fractions and offsets") {
  CHECK(parse_rfc3339("2026-11-18T11:49:05Z") == from_millis(1'795'002'545'000));
  CHECK(parse_rfc3339("2026-11-18T11:49:05.120Z") == from_millis(1'795'002'545'120));
  CHECK(parse_rfc3339("2026-11-18T11:49:05.1209999Z") == from_millis(1'795'002'545'120));
  CHECK(parse_rfc3339("2026-11-18T13:19:05+01:30") == from_millis(1'795'002'545'000));
  CHECK(parse_rfc3339("2026-11-18t09:49:05-02:00") == from_millis(1'795'002'545'000));
  CHECK(parse_rfc3339("2000-02-29T00:00:00Z") == from_millis(951'782'400'000));
  CHECK(parse_rfc3339("1969-12-31T23:59:59.999Z") == from_millis(-1));
}

TEST_CASE("time_text: what is no time is none") {
  for (const char* wrong :
       {"", "2026", "2026-11-18", "2026-11-18T11:49:05", "2026-13-18T11:49:05Z",
        "2026-02-29T11:49:05Z", "2026-11-18T24:49:05Z", "2026-11-18T11:60:05Z",
        "2026-11-18T11:49:61Z", "2026-11-18T11:49:05.Z", "2026-11-18T11:49:05Zx",
        "+026-11-18T11:49:05Z", "2026-11-18T11:49:05+24:00", " 2026-11-18T11:49:05Z", "null",
        "2026-11-18T1:49:05Z", "2026-11-18T11:49:05+0100"}) {
    INFO(wrong);
    CHECK_FALSE(parse_rfc3339(wrong));
  }
}

TEST_CASE("time_text: what `to_rfc3339` writes is read back") {
  rc::check([] {
    const auto t = from_millis(*rc::gen::inRange<std::int64_t>(1, 250'000'000'000'000));
    RC_ASSERT(parse_rfc3339(to_rfc3339(t)) == t);
    RC_ASSERT(parse_rfc3339(to_query_time(t)) == std::chrono::floor<std::chrono::seconds>(t));
  });
  CHECK(to_query_time(never) == "1970-01-01T00:00:00Z");
}

TEST_CASE("time_text: dates of HTTP") {
  CHECK(parse_http_date("Wed, 18 Nov 2026 11:49:05 GMT") == from_millis(1'795'002'545'000));
  for (const char* wrong : {"", "18 Nov 2026 11:49:05 GMT", "Wed, 18 Nov 2026 11:49:05",
                            "Wed, 31 Feb 2026 11:49:05 GMT", "Wed, 18 Nom 2026 11:49:05 GMT",
                            "Wednesday, 18-Nov-26 11:49:05 GMT", "60"}) {
    INFO(wrong);
    CHECK_FALSE(parse_http_date(wrong));
  }
}
