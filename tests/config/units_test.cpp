#include "config/units.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;

TEST_CASE("units: durations are a number and a unit") {
  CHECK(parse_duration("250ms") == 250ms);
  CHECK(parse_duration("30s") == 30s);
  CHECK(parse_duration("5m") == 5min);
  CHECK(parse_duration("2h") == 2h);
  CHECK(parse_duration("30d") == 720h);
  CHECK(parse_duration("0s") == 0s);
  CHECK(parse_duration("36525d"));
}

TEST_CASE("units: everything else is no duration") {
  for (const auto* text : {"", "5", "s", "5 s", " 5s", "5s ", "5S", "-5s", "+5s", "1.5s", "1h30m",
                           "5min", "36526d", "99999999999999999999s", "18446744073709551615d"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
  }
}

TEST_CASE("units: sizes are a number and a unit") {
  CHECK(parse_size("512B") == 512);
  CHECK(parse_size("64KiB") == 65536);
  CHECK(parse_size("16MiB") == 16777216);
  CHECK(parse_size("1GiB") == 1073741824);
  CHECK(parse_size("1TiB") == 1099511627776);
  CHECK(parse_size("16777215TiB"));
}

TEST_CASE("units: everything else is no size") {
  for (const auto* text :
       {"", "5", "B", "64KB", "64kib", "64 KiB", "-1B", "0.5GiB", "16777216TiB"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size(text));
  }
}

TEST_CASE("units: what is printed reads back, in the largest unit without a rest") {
  CHECK(duration_text(90s) == "90s");
  CHECK(duration_text(720h) == "30d");
  CHECK(duration_text(0s) == "0ms");
  CHECK(size_text(65536) == "64KiB");
  CHECK(size_text(65537) == "65537B");
  CHECK(size_text(0) == "0B");
}
