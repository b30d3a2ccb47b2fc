#include "http/target.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("target: a request target is a path and a query, decoded") {
  auto t = http::parse_target("/runs/a%2Fb/?status=running&q=x+y%2B&flag");
  REQUIRE(t);
  CHECK(t->segments == std::vector<std::string>{"runs", "a/b", ""});
  REQUIRE(t->query.size() == 3);
  CHECK(t->query[0] == std::pair<std::string, std::string>{"status", "running"});
  CHECK(t->query[1] == std::pair<std::string, std::string>{"q", "x y+"});
  CHECK(t->query[2] == std::pair<std::string, std::string>{"flag", ""});
  CHECK(http::parse_target("/")->segments.empty());
  CHECK(!http::parse_target("http://h/x"));
  CHECK(!http::parse_target("/%zz"));
}
