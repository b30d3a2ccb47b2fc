#include "base/json.hpp"
#include "rules/circuit.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <vector>

using namespace sluice;

namespace {

using what = circuit_event::what;
using enum circuit_effect;

constexpr timestamp t0 = from_millis(1'000'000);
constexpr circuit_config config{3, duration{30'000}, 2};
constexpr std::uint64_t probe = 7;

constexpr circuit closed{circuit_status::closed, 0, 0, never, 0};
constexpr circuit shaken{circuit_status::closed, 2, 0, never, 0};
constexpr circuit opened{circuit_status::open, 0, 0, t0, 0};
constexpr circuit waiting{circuit_status::half_open, 0, 0, t0, 0};
constexpr circuit probing{circuit_status::half_open, 0, 0, t0, probe};
constexpr circuit almost{circuit_status::half_open, 0, 1, t0, probe};

constexpr duration at_once{0};
constexpr duration later{30'000};

circuit opened_at(timestamp t) {
  return {circuit_status::open, 0, 0, t, 0};
}

struct line {
  const char* title;
  circuit before;
  circuit_event event;
  duration after; ///< t0
  circuit_step expected;
};

// Every state with every event; thresholds 3 and 2.
const std::vector<line> table = {
  {"closed, ask", closed, {what::ask, 9}, at_once, {closed, let_pass, t0}},
  {"closed, success", closed, {what::success, 9}, at_once, {closed}},
  {"closed, success forgets failures", shaken, {what::success, 9}, at_once, {closed}},
  {"closed, failure",
   closed,
   {what::failure, 9},
   at_once,
   {{circuit_status::closed, 1, 0, never, 0}}},
  {"closed, last failure", shaken, {what::failure, 9}, at_once, {opened, schedule, t0 + later}},
  {"closed, failures in one report",
   closed,
   {what::failure, 0, 3},
   at_once,
   {opened, schedule, t0 + later}},
  {"closed, not sent", shaken, {what::not_sent, 9}, at_once, {shaken}},
  {"closed, timeout", shaken, {what::timeout, 0, 1, t0}, later, {shaken}},
  {"open, ask", opened, {what::ask, 9}, duration{29'999}, {opened, refuse, t0 + later}},
  {"open, ask after the time-out",
   opened,
   {what::ask, probe},
   later,
   {probing, let_probe, t0 + later}},
  {"open, success", opened, {what::success, 9}, at_once, {opened}},
  {"open, failure", opened, {what::failure, 9}, at_once, {opened}},
  {"open, not sent", opened, {what::not_sent, 9}, at_once, {opened}},
  {"open, timeout", opened, {what::timeout, 0, 1, t0}, later, {waiting, offer}},
  {"open, timeout too early", opened, {what::timeout, 0, 1, t0}, at_once, {opened}},
  {"open, timeout of an earlier opening",
   opened,
   {what::timeout, 0, 1, t0 - later},
   later,
   {opened}},
  {"half open, ask", waiting, {what::ask, probe}, later, {probing, let_probe, t0 + later}},
  {"half open, ask beside the probe", probing, {what::ask, 9}, later, {probing, refuse, never}},
  {"half open, success of the probe",
   probing,
   {what::success, probe},
   later,
   {{circuit_status::half_open, 0, 1, t0, 0}, offer}},
  {"half open, last success",
   almost,
   {what::success, probe},
   later,
   {{circuit_status::closed, 0, 0, t0, 0}, release}},
  {"half open, success of another", almost, {what::success, 9}, later, {almost}},
  {"half open, success without a pass", almost, {what::success, 0, 50}, later, {almost}},
  {"half open, failure of the probe",
   almost,
   {what::failure, probe},
   later,
   {opened_at(t0 + later), schedule, t0 + 2 * later}},
  {"half open, failure of another", probing, {what::failure, 9}, later, {probing}},
  {"half open, failures without a pass", waiting, {what::failure, 0, 50}, later, {waiting}},
  {"half open, probe not sent",
   almost,
   {what::not_sent, probe},
   later,
   {{circuit_status::half_open, 0, 1, t0, 0}, offer}},
  {"half open, another not sent", probing, {what::not_sent, 9}, later, {probing}},
  {"half open, timeout", probing, {what::timeout, 0, 1, t0}, later, {probing}},
};

} // namespace

TEST_CASE("circuit: every state with every event (H1, H2)") {
  for (const auto& l : table) {
    INFO(l.title);
    CHECK(next(l.before, l.event, config, t0 + l.after) == l.expected);
  }
}

TEST_CASE("circuit: a failed probe opens it again (H1)") {
  const auto step = next(probing, {what::failure, probe}, config, t0 + later);
  CHECK(step.next.status == circuit_status::open);
  CHECK(step.effect == schedule);
  CHECK(step.at == t0 + later + config.reset_timeout);
}

TEST_CASE("circuit: two failures at the same moment count as two (H4)") {
  auto c = closed;
  for (int i = 0; i < 2; ++i)
    c = next(c, {what::failure, 9}, config, t0).next;
  CHECK(c.failures == 2);
}

TEST_CASE("circuit: its row reads back, without the probe (H4)") {
  auto read = json::decode<circuit>(json::encode(almost));
  REQUIRE(read);
  CHECK(*read == circuit{circuit_status::half_open, 0, 1, t0, 0});
}

TEST_CASE("circuit: after a restart it stays open no longer than its time-out (H4, I20)") {
  // The clock went back by a day under a node that was down.
  const auto back = t0 - std::chrono::hours{24};
  const auto c = restored(opened, back);
  CHECK(next(c, {what::ask, 9}, config, back).at == back + config.reset_timeout);
  CHECK(restored(opened, t0 + duration{10'000}) == opened);
  CHECK(restored(probing, t0 + later).probe == 0);
}

TEST_CASE("circuit: properties of any history (H1, H2, I15)") {
  CHECK(rc::check("circuit", [](const std::vector<std::uint8_t>& history) {
    const circuit_config own{*rc::gen::inRange(1u, 5u), duration{*rc::gen::inRange(0, 1000)},
                             *rc::gen::inRange(1u, 4u)};
    circuit c;
    timestamp now = t0;
    std::uint64_t permit = 0;
    std::uint32_t row = 0; // failures in a row while closed, counted apart
    for (const auto draw : history) {
      now += duration{(draw >> 4) * 40};
      circuit_event e{static_cast<what>(draw % 5), 0, 1, c.opened_at};
      if (e.kind == what::ask)
        e.permit = ++permit;
      else
        e.permit = (draw & 8) != 0 ? c.probe : permit;
      const auto before = c;
      const auto step = next(before, e, own, now);
      c = step.next;
      // Nothing passes while it is open, and only one while it is half open.
      if (step.effect == let_pass) RC_ASSERT(before.status == circuit_status::closed);
      if (step.effect == let_probe) {
        RC_ASSERT(before.probe == 0u);
        RC_ASSERT(now >= before.opened_at + own.reset_timeout);
      }
      if (before.status == circuit_status::closed) {
        if (e.kind == what::failure) ++row;
        if (e.kind == what::success) row = 0;
        RC_ASSERT((c.status == circuit_status::open) == (row >= own.failure_threshold));
      }
      if (c.status != circuit_status::closed) row = 0;
      RC_ASSERT(c.probe == 0u || c.status == circuit_status::half_open);
      RC_ASSERT((step.effect == schedule)
                == (c.status == circuit_status::open && before.status != circuit_status::open));
      // It is never stuck: after the time-out an ask passes, or a probe is under way.
      const auto last = next(c, {what::ask, permit + 1}, own, now + own.reset_timeout);
      RC_ASSERT(last.effect != refuse || c.probe != 0u);
    }
  }));
}
