#include "rules/trace.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace sluice;

namespace {

const std::string sample = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

std::string with(std::size_t at, std::string text) {
  auto changed = sample;
  changed.replace(at, text.size(), text);
  return changed;
}

} // namespace

TEST_CASE("trace: the example of the W3C is one, and so is another version") {
  CHECK(is_traceparent(sample));
  CHECK(is_traceparent(with(0, "01")));
  CHECK(is_traceparent(with(53, "00")));
}

TEST_CASE("trace: what the W3C forbids is none") {
  CHECK(!is_traceparent(""));
  CHECK(!is_traceparent(sample.substr(1)));
  CHECK(!is_traceparent(sample + "0"));
  CHECK(!is_traceparent(with(0, "ff")));
  CHECK(!is_traceparent(with(3, std::string(32, '0'))));
  CHECK(!is_traceparent(with(36, std::string(16, '0'))));
  CHECK(!is_traceparent(with(3, "4BF9")));
  CHECK(!is_traceparent(with(10, "g")));
  for (std::size_t dash : {2u, 35u, 52u})
    CHECK(!is_traceparent(with(dash, "_")));
}

TEST_CASE("trace: a new one is well formed, whatever was drawn") {
  for (std::uint64_t bits : {0ULL, 1ULL, ~0ULL}) {
    CHECK(is_traceparent(new_traceparent(bits, 0, bits)));
    CHECK(is_traceparent(new_traceparent(0, bits, 0)));
  }
  CHECK(new_traceparent(0x0102, 3, 4) == "00-00000000000001020000000000000003-0000000000000004-01");
}

TEST_CASE("trace: a child keeps the trace and has a span of its own") {
  const auto child = child_traceparent(sample, 7);
  CHECK(is_traceparent(child));
  CHECK(child.substr(0, 36) == sample.substr(0, 36));
  CHECK(child != sample);
  CHECK(child == child_traceparent(sample, 7));
  CHECK(child != child_traceparent(sample, 8));
}

TEST_CASE("trace: without a parent a child begins a trace, the same for the same entropy") {
  const auto first = child_traceparent("nonsense", 7);
  CHECK(is_traceparent(first));
  CHECK(first == child_traceparent("", 7));
  CHECK(first.substr(3, 32) != child_traceparent("", 8).substr(3, 32));
}
