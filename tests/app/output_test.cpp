#include "app/output.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("output: columns line up, also with umlauts") {
  text_table t{{"A", "B"}};
  CHECK(t.empty());
  t.add({"grün", "1"});
  t.add({"x", "2"});
  CHECK(t.text() == "A     B\ngrün  1\nx     2\n");
}

TEST_CASE("output: what a node says does not steer the terminal") {
  CHECK(printable("a\x1b[2Jb\n") == "a?[2Jb?");
  text_table t{{"A"}};
  t.add({"\x1b[31m"});
  CHECK(t.text() == "A\n?[31m\n");
}
