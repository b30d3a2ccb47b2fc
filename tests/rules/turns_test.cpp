#include "rules/turns.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

std::string drain(turns<std::string>& t) {
  std::string all;
  while (!t.empty())
    all += t.pop();
  return all;
}

} // namespace

TEST_CASE("turns: a tenant with many waits no less than those with one (B22)") {
  turns<std::string> t;
  for (const auto* item : {"A", "B", "C", "D"})
    t.push("large", item);
  t.push("small", "x");
  t.push("other", "y");
  CHECK(t.size() == 6);
  CHECK(drain(t) == "AxyBCD");
}

TEST_CASE("turns: a key that comes again comes last (B22)") {
  turns<std::string> t;
  t.push("a", "1");
  t.push("b", "2");
  CHECK(t.pop() == "1");
  t.push("a", "3");
  t.push("a", "4");
  CHECK(drain(t) == "234");
}

TEST_CASE("turns: what is taken out leaves the others in their order (B22)") {
  turns<std::string> t;
  for (const auto* item : {"1", "2", "3"})
    t.push("a", item);
  t.push("b", "4");
  t.push("b", "5");
  CHECK(t.take_if([](const std::string& s) { return s == "1" || s == "5"; })
        == std::vector<std::string>{"1", "5"});
  CHECK(t.size() == 3);
  CHECK(drain(t) == "423");
  CHECK(t.take_if([](const std::string&) { return true; }).empty());
}
