#include "connectors/cursor.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

const std::string base = "https://ghe.example/api/v3/";

std::string resolved(std::string_view cursor, std::string_view from = base) {
  auto to = cursors::resolve(from, cursor);
  return to ? to->text() : "refused";
}

std::string next(std::string_view reference) {
  auto cursor =
    cursors::from_link(base, "https://ghe.example/api/v3/repos/o/r/pulls?a=1", reference);
  return cursor ? *cursor : detail_of(cursor.error());
}

} // namespace

TEST_CASE("cursor: a path goes below a base with a path and a slash (B23)") {
  CHECK(resolved("/repos/o/r?a=1") == "https://ghe.example/api/v3/repos/o/r?a=1");
  CHECK(resolved("/repos/o/r", "http://127.0.0.1:9000") == "http://127.0.0.1:9000/repos/o/r");
  CHECK(resolved("/repos/../../admin") == "refused");
  CHECK(resolved("repos/o/r") == "refused");
  CHECK(resolved("") == "refused");
}

TEST_CASE("cursor: a next page below the base is kept as its path, and outlives the base (B23)") {
  const auto cursor = next("https://ghe.example/api/v3/repositories/1/pulls?page=2");
  CHECK(cursor == "/repositories/1/pulls?page=2");
  CHECK(resolved(cursor, "http://localhost:1/x")
        == "http://localhost:1/x/repositories/1/pulls?page=2");
  CHECK(next("/api/v3/a?page=2") == "/a?page=2");
  CHECK(next("?page=2") == "/repos/o/r/pulls?page=2");
  CHECK(next("HTTPS://GHE.example:443/api/v3/a") == "/a");
}

TEST_CASE("cursor: elsewhere on the same host it is kept whole (S12)") {
  for (const char* whole : {"https://ghe.example/other?page=2", "https://ghe.example/api/v3",
                            "https://ghe.example/api/v3x/a", "https://ghe.example/api/v3//a"}) {
    INFO(whole);
    CHECK(next(whole) == whole);
    CHECK(resolved(next(whole)) == whole);
  }
}

TEST_CASE("cursor: a next page on another host is refused (S12)") {
  for (const char* hostile :
       {"https://evil.example/api/v3/a", "http://ghe.example/api/v3/a", "//evil.example/a",
        "https://ghe.example:444/api/v3/a", "https://ghe.example.evil/api/v3/a",
        "https://127.0.0.1/api/v3/a", "https://[::1]/a"}) {
    INFO(hostile);
    CHECK(next(hostile).starts_with("refused a next page on another host, "));
    CHECK(resolved(hostile) == "refused");
  }
  CHECK(next("https://evil.example/?token=x")
        == "refused a next page on another host, https://evil.example");
  CHECK(next("https://user:pw@ghe.example/api/v3/a").find("user info") != std::string::npos);
  for (const char* wrong :
       {"javascript:alert(1)", "file:///etc/passwd", "https://ghe.example/\r\nX: 1",
        "https://ghe.example\\@evil.example/"}) {
    INFO(wrong);
    CHECK(next(wrong).starts_with("not an http or https URL"));
  }
}

TEST_CASE("cursor: parameters are found by their whole name") {
  const std::string cursor = "/a?per_page=100&page=7&x=&z";
  CHECK(cursors::parameter(cursor, "page") == "7");
  CHECK(cursors::parameter(cursor, "per_page") == "100");
  CHECK(cursors::parameter(cursor, "x") == "");
  CHECK_FALSE(cursors::parameter(cursor, "z"));
  CHECK_FALSE(cursors::parameter(cursor, "age"));
  CHECK_FALSE(cursors::parameter("/page=7", "page"));
  CHECK(cursors::with_parameter(cursor, "page", "8") == "/a?per_page=100&page=8&x=&z");
  CHECK(cursors::with_parameter("/a", "page", "8") == "/a?page=8");
  CHECK(cursors::with_parameter("/a?b=1", "page", "8") == "/a?b=1&page=8");
}
