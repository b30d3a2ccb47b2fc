#include "workflows/catalog.hpp"
#include "workflows/examples.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct order {
  std::string tenant;
  std::uint32_t count = 1;
};
template <class Fields>
void describe(Fields& f, order& x) {
  f("tenant", x.tenant);
  f("count", x.count);
}

task<void> nothing(context&, order) {
  co_return;
}

} // namespace

TEST_CASE("catalog: finds what was added, by name") {
  catalog flows;
  flows.add("b", nothing);
  flows.add("a", nothing).version(7).own_actor("worker");
  CHECK(flows.names() == std::vector<std::string>{"a", "b"});
  REQUIRE(flows.find("a") != nullptr);
  CHECK(flows.find("a")->version == 7);
  CHECK(flows.find("a")->actor == "worker");
  CHECK(flows.find("b")->version == 1);
  CHECK(flows.find("c") == nullptr);
}

TEST_CASE("catalog: one key per limit, then the throttle's, read from the input (P9, P10)") {
  catalog flows;
  auto tenant = [](const order& in) { return in.tenant; };
  flows.add("limited", nothing)
    .limit(10)
    .limit(2, tenant)
    .throttle(5, duration{1000}, [](const order& in) { return std::to_string(in.count); });
  const auto& flow = *flows.find("limited");
  CHECK(flow.keys(R"({"tenant":"t","count":3})") == std::vector<std::string>{"", "t", "3"});
  REQUIRE(flow.limits.size() == 2);
  CHECK(flow.limits[0].capacity == 10);
  CHECK(flow.limits[1].capacity == 2);
  CHECK(flow.throttle->limit == 5);
}

TEST_CASE("catalog: says what is wrong with an input") {
  catalog flows;
  flows.add("flow", nothing);
  const auto& flow = *flows.find("flow");
  CHECK(!flow.check(R"({"tenant":"t"})"));
  CHECK(flow.check(R"({"tenant":5})"));
  CHECK(flow.check("{"));
}

TEST_CASE("catalog: keeps time-outs, retries and what cancels (P2, P11, P12)") {
  catalog flows;
  flows.add("flow", nothing)
    .start_within(duration{5})
    .finish_within(duration{6})
    .retry({9, duration{1}, 1.0, duration{1}})
    .cancel_on("gone", [](const order& in) { return in.tenant; });
  const auto& flow = *flows.find("flow");
  CHECK(flow.start_timeout == duration{5});
  CHECK(flow.finish_timeout == duration{6});
  CHECK(flow.retry->retries == 9);
  REQUIRE(flow.cancel_on.size() == 1);
  CHECK(flow.cancel_on[0].subject(R"({"tenant":"t"})") == "t");
}

TEST_CASE("catalog: the examples are in it") {
  catalog flows;
  add_examples(flows, "http://127.0.0.1/");
  for (const char* name : {"example.counter", "example.order", "example.calls"})
    CHECK(flows.find(name) != nullptr);
}
