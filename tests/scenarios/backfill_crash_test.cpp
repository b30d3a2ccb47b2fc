#include "tests/support/backfill_story.hpp"

#include <algorithm>
#include <map>

using namespace sluice;

TEST_CASE("backfill: killed in the middle of a dispatch, only what was in flight is sent again "
          "(B11, B16)") {
  auto o = backfill_story::small();
  o.pulls = 1200;
  backfill_story s{o};
  const auto at = GENERATE(150, 333, 777, 1100);
  REQUIRE(s.world.boot());
  auto run = s.trigger("conn-1", "github", {"pull_request"});
  REQUIRE(s.world.pass_until([&] { return s.posts >= static_cast<std::uint64_t>(at); },
                             std::chrono::hours{1}));
  s.gets.clear();
  s.world.crash();
  REQUIRE(s.world.boot());
  REQUIRE(s.run_to_end(run->run));
  INFO("killed after " << at << " events");
  CHECK(s.world.row(run->run)->status == run_status::completed);
  s.nothing_lost();
  CHECK(s.ledger("duplicates") < 100);
  // The page under way is asked for once more; no other page is, but those of the reread.
  CHECK(s.ledger("repeated") <= 2);
  CHECK(s.result_of(run->run).totals.balances());
}

TEST_CASE(
  "backfill: killed again and again, it comes to its end and loses nothing (B16, I8, I10)") {
  auto o = backfill_story::small();
  o.pulls = 420;
  o.faults.gateway_errors = 0.02;
  o.faults.lost_answers = 0.01;
  o.faults.shift_every = 3;
  backfill_story s{o};
  const auto every = GENERATE(37, 90, 160);
  REQUIRE(s.world.boot());
  auto first = s.trigger("conn-1");
  auto second = s.trigger("conn-2");
  std::uint64_t next = static_cast<std::uint64_t>(every);
  int kills = 0;
  auto both = [&] { return s.ended(first->run) && s.ended(second->run); };
  while (kills < 12 && !both()) {
    s.world.pass_until([&] { return both() || s.posts >= next; }, std::chrono::hours{1});
    if (both()) break;
    next = s.posts + static_cast<std::uint64_t>(every);
    ++kills;
    s.world.crash();
    REQUIRE(s.world.boot());
  }
  REQUIRE(s.world.pass_until(both, std::chrono::hours{12}));
  INFO("a kill every " << every << " events, " << kills << " in all");
  CHECK(kills > 2);
  CHECK(s.world.row(first->run)->status == run_status::completed);
  CHECK(s.world.row(second->run)->status == run_status::completed);
  s.nothing_lost();
}

TEST_CASE("backfill: the gateway is down for a while: only the circuit's probe calls (B15, I15)") {
  auto o = backfill_story::small();
  o.faults.down_after = 60;
  o.faults.down_for = std::chrono::minutes{10};
  backfill_story s{o};
  REQUIRE(s.world.boot());
  auto run = s.trigger("conn-1");
  REQUIRE(s.run_to_end(run->run));
  CHECK(s.world.row(run->run)->status == run_status::completed);
  s.nothing_lost();
  // One call each 30 s, and what was under way when it went down.
  CHECK(s.ledger("calls_while_down") < 20 + 30 + 10);
}

TEST_CASE("backfill: a cancel stops it, and the certificate says what was delivered (B3, P11)") {
  auto o = backfill_story::small();
  o.pulls = 900;
  backfill_story s{o};
  REQUIRE(s.world.boot());
  auto run = s.trigger("conn-1", "github", {"pull_request"});
  REQUIRE(s.world.pass_until([&] { return s.posts >= 250; }, std::chrono::hours{1}));
  REQUIRE(s.world.cancel(run->run));
  s.world.pass_time(duration{1000});
  const auto sent = s.posts;
  s.world.pass_time(duration{60'000});
  CHECK(s.posts == sent);
  CHECK(s.world.row(run->run)->status == run_status::cancelled);
  const auto& rows = s.world.disk->tables[static_cast<std::size_t>(table::cert)];
  const auto found = rows.lower_bound(unit_key(run->run, ""));
  REQUIRE(found != rows.end());
  auto unit = json::decode<unit_row>(found->second);
  REQUIRE(unit);
  CHECK(unit->status == run_status::cancelled);
  CHECK(unit->counts.balances());
  CHECK(unit->counts.delivered > 0);
  CHECK(unit->counts.delivered <= s.ledger("distinct"));
}
