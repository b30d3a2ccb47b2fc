#include "base/uuid.hpp"

#include <catch2/catch.hpp>

#include <unordered_set>

using namespace sluice;

TEST_CASE("uuid: the text has dashes, reads back and sorts like the bytes") {
  const auto id = parse_uuid("0192F3a4-5b6c-7d8e-9f01-23456789abCD");
  REQUIRE(id);
  CHECK(id->bytes[0] == 0x01);
  CHECK(id->bytes[15] == 0xCD);
  CHECK(to_string(*id) == "0192f3a4-5b6c-7d8e-9f01-23456789abcd");
  CHECK(uuid{}.is_nil());
  CHECK(to_string(uuid{}) == "00000000-0000-0000-0000-000000000000");
}

TEST_CASE("uuid: anything but the form with dashes is refused") {
  for (const auto* text :
       {"", "0192f3a4", "0192f3a45b6c7d8e9f0123456789abcd",
        "{0192f3a4-5b6c-7d8e-9f01-23456789abcd}", "0192f3a4-5b6c-7d8e-9f01-23456789abcg",
        "0192f3a4-5b6c-7d8e-9f01-23456789abcd ", "0192f3a4_5b6c-7d8e-9f01-23456789abcd",
        "-192f3a4-5b6c-7d8e-9f01-23456789abcd"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_uuid(text));
  }
}

TEST_CASE("uuid: a new one is of version 7 and holds its time") {
  uuid_source source;
  const auto id = source.next(from_millis(0x0192'F3A4'5B6C));
  const auto text = to_string(id);
  CHECK(text.substr(0, 15) == "0192f3a4-5b6c-7");
  CHECK((id.bytes[8] & 0xC0) == 0x80);
}

TEST_CASE("uuid: ids of one source sort in the order in which they were made") {
  uuid_source source;
  const auto now = from_millis(1'795'002'545'120);
  uuid last;
  // Enough to use up the counter of a millisecond; every tenth time the clock runs backwards.
  for (int i = 0; i < 20'000; ++i) {
    const auto id = source.next(i % 10 == 0 ? now - duration{5'000} : now);
    REQUIRE(last < id);
    last = id;
  }
}

TEST_CASE("uuid: two sources never agree, two with one seed always do") {
  const auto now = from_millis(1'795'002'545'120);
  uuid_source a;
  uuid_source b;
  std::unordered_set<uuid> seen;
  for (int i = 0; i < 1'000; ++i) {
    CHECK(seen.insert(a.next(now)).second);
    CHECK(seen.insert(b.next(now)).second);
  }
  uuid_source c{7};
  uuid_source d{7};
  uuid_source e{8};
  const auto first = c.next(now);
  CHECK(first == d.next(now));
  CHECK(first != e.next(now));
  CHECK(first != c.next(now));
}

TEST_CASE("uuid: a forked source makes other ids than the one it came from") {
  uuid_source seeded{7};
  auto one = seeded.fork();
  auto two = seeded.fork();
  const auto now = from_millis(1'000'000);
  CHECK(one.next(now) != two.next(now));
  CHECK(one.next(now) != seeded.next(now));
  uuid_source again{7};
  auto first = again.fork();
  auto known = uuid_source{7}.fork();
  CHECK(first.next(now) == known.next(now));
}
