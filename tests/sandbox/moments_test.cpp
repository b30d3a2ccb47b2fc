#include "sandbox/moments.hpp"

#include <catch2/catch.hpp>

using namespace sluice::sandbox;

TEST_CASE("moments: are written in seconds and read back") {
  // `date -u -d @1795000000`
  CHECK(iso_seconds(1'795'000'000'999) == "2026-11-18T11:06:40Z");
  CHECK(millis_of("2026-11-18T11:06:40Z") == 1'795'000'000'000);
  CHECK(millis_of("2026-11-18T11:06:40.25Z") == 1'795'000'000'250);
  CHECK(millis_of("2026-11-18T11:06:40.123456+00:00") == 1'795'000'000'123);
  CHECK(millis_of("1795000000123") == 1'795'000'000'123);
}

TEST_CASE("moments: everything else is none") {
  for (const auto* text :
       {"", "now", "-5", "2026-11-18", "2026-11-18T11:06:40", "2026-13-18T11:06:40Z",
        "2026-02-30T11:06:40Z", "2026-11-18T25:06:40Z", "2026-11-18T11:06:40.Z",
        "2026-11-18T11:06:40+02:00", "2026-11-18T11:06:4xZ", "99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(millis_of(text));
  }
}
