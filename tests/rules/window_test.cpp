#include "base/json.hpp"
#include "rules/window.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

// The beginning of an hour, so that slots of a minute begin where minutes do.
constexpr timestamp t0 = from_millis(1'767'225'600'000);
constexpr window_config hourly{4000, 1h, 75min};

window used(window w, std::uint32_t units, const window_config& config, timestamp now) {
  auto answer = reserve(std::move(w), units, units, config, now);
  REQUIRE(answer.granted == units);
  return finish(std::move(answer.next), units, config, now);
}

} // namespace

TEST_CASE("window: the whole limit may go at once, then none for a window (B14)") {
  auto w = used({}, 4000, hourly, t0);
  auto answer = reserve(w, 1, 1, hourly, t0 + 1ms);
  CHECK(answer.granted == 0);
  // The slot of the burst leaves with the 61st after it begins: a window never sees both.
  CHECK(answer.at == t0 + 61min);
  CHECK(reserve(w, 1, 1, hourly, t0 + 61min - 1ms).granted == 0);
  CHECK(reserve(w, 1, 4000, hourly, t0 + 61min).granted == 4000);
}

TEST_CASE("window: gives what is left, or nothing if that is too little (H7)") {
  auto w = used({}, 3990, hourly, t0);
  CHECK(reserve(w, 1, 40, hourly, t0).granted == 10);
  CHECK(reserve(w, 11, 40, hourly, t0).granted == 0);
}

TEST_CASE("window: a cost above the limit waits for an empty window") {
  CHECK(reserve({}, 5000, 5000, hourly, t0).granted == 4000);
  CHECK(reserve(used({}, 1, hourly, t0), 5000, 5000, hourly, t0).at == t0 + 61min);
}

TEST_CASE("window: what is open counts as of now, however long it takes (I14)") {
  auto w = reserve({}, 4000, 4000, hourly, t0).next;
  CHECK(reserve(w, 1, 1, hourly, t0 + 2h).granted == 0);
  w = finish(w, 4000, hourly, t0 + 2h);
  CHECK(reserve(w, 1, 1, hourly, t0 + 3h).granted == 0);
  CHECK(reserve(w, 1, 1, hourly, t0 + 3h + 1min).granted == 1);
}

TEST_CASE("window: what was not sent is free again") {
  auto w = reserve({}, 4000, 4000, hourly, t0).next;
  CHECK(reserve(give_back(w, 30), 1, 4000, hourly, t0).granted == 30);
}

TEST_CASE("window: the provider's limit less a tenth, if that is smaller (B14)") {
  const auto with = [](std::uint32_t limit, duration length) {
    rate_report r;
    r.limit = limit;
    r.window = length;
    return allowed(report({}, r, pass_outcome::success, hourly, t0), hourly);
  };
  CHECK(with(0, 0h) == 4000);
  CHECK(with(5000, 0h) == 4000);
  CHECK(with(3000, 0h) == 2700);
  CHECK(with(1001, 0h) == 900); // of what is left of 1001 no more than nine tenths
  CHECK(with(1, 0h) == 1);
  CHECK(with(60, 1min) == 3240); // 54 a minute, counted for our hour
}

TEST_CASE("window: less than a tenth left waits for the provider's reset (B14)") {
  const auto blocked = [](std::uint32_t remaining, timestamp reset) {
    rate_report r;
    r.limit = 5000;
    r.remaining = remaining;
    r.reset_at = reset;
    auto w = report({}, r, pass_outcome::success, hourly, t0);
    return reserve(w, 1, 1, hourly, t0).at - t0;
  };
  CHECK(blocked(500, t0 + 10min) == 0ms);
  CHECK(blocked(499, t0 + 10min) == 10min + 1s);
  CHECK(blocked(0, t0 + 10min) == 10min + 1s);
  CHECK(blocked(0, t0 - 10min) == 0ms);
  CHECK(blocked(0, timestamp::max()) == hourly.wait_max);
}

TEST_CASE("window: Retry-After and secondary limits are obeyed, within reason (B14)") {
  const auto blocked = [](timestamp until) {
    rate_report r;
    r.blocked_until = until;
    return report({}, r, pass_outcome::limited, hourly, t0).blocked_until - t0;
  };
  CHECK(blocked(t0 + 17s) == 17s);
  CHECK(blocked(timestamp::max()) == hourly.wait_max);
  // Nothing to go by: a minute.
  CHECK(blocked(never) == 1min);
  CHECK(blocked(t0 - 1h) == 1min);
}

TEST_CASE("window: too many again and again waits longer, once per wait (F18)") {
  window w;
  auto now = t0;
  for (auto expected : {1min, 2min, 4min, 8min}) {
    for (int i = 0; i < 30; ++i) // all that were under way hear it
      w = report(w, {}, pass_outcome::limited, hourly, now);
    CHECK(w.blocked_until - now == expected);
    now = w.blocked_until;
  }
  w = report(w, {}, pass_outcome::success, hourly, now);
  CHECK(report(w, {}, pass_outcome::limited, hourly, now).blocked_until - now == 1min);
}

TEST_CASE("window: an earlier end does not shorten a wait") {
  rate_report late;
  late.blocked_until = t0 + 10min;
  rate_report soon;
  soon.blocked_until = t0 + 1min;
  auto w = report({}, late, pass_outcome::limited, hourly, t0);
  CHECK(report(w, soon, pass_outcome::limited, hourly, t0).blocked_until == t0 + 10min);
}

TEST_CASE("window: time that runs backwards grants nothing extra (H7)") {
  auto w = used({}, 4000, hourly, t0);
  CHECK(reserve(w, 1, 1, hourly, t0 - 24h).granted == 0);
  CHECK(reserve(w, 1, 1, hourly, t0 - 24h).next == w);
  CHECK(reserve(w, 1, 1, hourly, t0 + 60min).granted == 0);
}

TEST_CASE("window: after a restart what was open counts as used (H7, I14)") {
  auto stored = reserve({}, 40, 40, hourly, t0).next;
  auto w = restored(stored, hourly, t0 + 5min);
  CHECK(w.open == 0);
  CHECK(reserve(w, 1, 4000, hourly, t0 + 65min).granted == 3960);
  CHECK(reserve(w, 1, 4000, hourly, t0 + 66min).granted == 4000);
}

TEST_CASE("window: a clock that went back across a restart holds it for one window (I20)") {
  rate_report r;
  r.blocked_until = t0 + 30min;
  auto stored = report(used({}, 4000, hourly, t0), r, pass_outcome::limited, hourly, t0);
  const auto back = t0 - 24h;
  auto w = restored(stored, hourly, back);
  CHECK(w.blocked_until == back + hourly.wait_max);
  CHECK(reserve(w, 1, 1, hourly, back + 60min).granted == 0);
  CHECK(reserve(w, 1, 4000, hourly, back + hourly.wait_max).granted == 4000);
}

TEST_CASE("window: a changed length forgets nothing (H7)") {
  auto stored = used({}, 4000, hourly, t0);
  const window_config shorter{4000, 10min, 75min};
  CHECK(restored(stored, shorter, t0 + 1min).counts == std::vector<std::uint32_t>{4000});
}

TEST_CASE("window: its row is small and reads back (H7)") {
  window w;
  for (int i = 0; i < 200; ++i)
    w = used(w, 60, hourly, t0 + i * 1min);
  const auto row = json::encode(w);
  CHECK(row.size() < 400);
  CHECK(w.counts.size() == 61);
  auto read = json::decode<window>(row);
  REQUIRE(read);
  CHECK(*read == w);
}
