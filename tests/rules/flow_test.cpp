#include "rules/flow.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

constexpr timestamp begin = from_millis(1'000'000);

void rounds(flow& f, int n, std::chrono::microseconds took, timestamp at) {
  for (int i = 0; i < n; ++i)
    for (auto left = f.limit(); left > 0; --left)
      f.succeeded(f.round(), took, at);
}

} // namespace

TEST_CASE("flow: begins at its limit and never goes above it (B15)") {
  flow f;
  CHECK(f.limit() == 30);
  rounds(f, 100, 1ms, begin);
  CHECK(f.limit() == 30);
}

TEST_CASE("flow: one bad moment is one step down, however many it hit (B15)") {
  flow f;
  const auto round = f.round();
  for (int i = 0; i < 30; ++i)
    f.failed(round);
  CHECK(f.limit() == 15);
  f.failed(f.round());
  CHECK(f.limit() == 7);
  for (int i = 0; i < 100; ++i)
    f.failed(f.round());
  CHECK(f.limit() == 1);
}

TEST_CASE("flow: one more per round of good answers (B15)") {
  flow f;
  for (int i = 0; i < 100; ++i)
    f.failed(f.round());
  rounds(f, 10, 1ms, begin);
  CHECK(f.limit() >= 9);
  CHECK(f.limit() <= 11);
  rounds(f, 30, 1ms, begin);
  CHECK(f.limit() == 30);
}

TEST_CASE("flow: answers that become slow shrink it, noise does not (B15)") {
  flow f;
  rounds(f, 5, 20ms, begin);
  rounds(f, 5, 100ms, begin + 1s);
  CHECK(f.limit() == 30);
  rounds(f, 20, 400ms, begin + 2s);
  CHECK(f.limit() < 5);
  CHECK(f.limit() >= 1);
  rounds(f, 60, 20ms, begin + 3s);
  CHECK(f.limit() == 30);
}

TEST_CASE("flow: what stays slow becomes what is normal (B15)") {
  flow f;
  rounds(f, 5, 20ms, begin);
  timestamp at = begin;
  for (int i = 0; i < 300; ++i) {
    at += 1s;
    rounds(f, 1, 900ms, at);
  }
  CHECK(f.limit() == 30);
}

TEST_CASE("flow: a fast network is never slow by its own load (B15)") {
  flow f;
  rounds(f, 5, 50us, begin);
  rounds(f, 50, 20ms, begin + 1s); // a busy machine
  CHECK(f.limit() == 30);
}
