#include "tests/support/backfill_story.hpp"

#include <algorithm>
#include <set>

using namespace sluice;

namespace {

const unit_row& unit_of(const backfill_result& result, std::string_view entity) {
  auto found = std::find_if(result.units.begin(), result.units.end(),
                            [&](const unit_row& u) { return u.entity == entity; });
  REQUIRE(found != result.units.end());
  return *found;
}

std::size_t table_rows(const world& w, table where) {
  return w.disk->tables[static_cast<std::size_t>(where)].size();
}

} // namespace

TEST_CASE("backfill: every item arrives once, byte for byte, and the books balance (B4, B9, I10)") {
  backfill_story s;
  REQUIRE(s.world.boot());
  auto run = s.trigger("conn-1");
  REQUIRE(run);
  REQUIRE(s.run_to_end(run->run));
  CHECK(s.world.row(run->run)->status == run_status::completed);
  s.nothing_lost();
  CHECK(s.ledger("duplicates") == 0);
  const auto result = s.result_of(run->run);
  CHECK(result.units_planned == 3);
  CHECK(result.units_succeeded == 3);
  CHECK(result.events_dispatched == s.ledger("distinct"));
  for (const auto& unit : result.units) {
    INFO(unit.unit);
    CHECK(unit.counts.balances());
    CHECK(unit.counts.pending == 0);
    CHECK(unit.digest.size() == 32);
  }
  CHECK(s.ledger("gateway_tokens") == 1);
}

TEST_CASE("backfill: a deployment's history comes by Vercel's cursor (B24)") {
  backfill_story s;
  REQUIRE(s.world.boot());
  auto run = s.trigger("vconn-1", "vercel");
  REQUIRE(s.run_to_end(run->run));
  CHECK(s.world.row(run->run)->status == run_status::completed);
  s.nothing_lost();
}

TEST_CASE("backfill: entity.completed comes once per unit, however it ends (B17)") {
  backfill_story s;
  const bool cancelled = GENERATE(false, true);
  REQUIRE(s.world.boot());
  auto run = s.trigger("conn-1");
  if (cancelled) {
    s.world.pass_time(duration{60});
    REQUIRE(s.world.cancel(run->run));
  }
  REQUIRE(s.run_to_end(run->run));
  s.world.pass_time(duration{10'000});
  std::multiset<std::string> told;
  for (const auto& e : s.world.events(std::string{entity_completed_kind}))
    told.insert(e.subject);
  CHECK(told.size() == 3);
  for (const auto& subject : told)
    CHECK(told.count(subject) == 1);
}

TEST_CASE("backfill: what cannot be done is said at once, without a retry (B4)") {
  backfill_story s;
  REQUIRE(s.world.boot());
  auto unknown = s.trigger("nobody");
  REQUIRE(s.run_to_end(unknown->run));
  CHECK(s.world.row(unknown->run)->status == run_status::failed);
  CHECK(s.world.row(unknown->run)->error->code == "not_found");
  auto other = s.trigger("conn-1", "vercel");
  REQUIRE(s.run_to_end(other->run));
  CHECK(s.world.row(other->run)->error->message.find("not of vercel") != std::string::npos);
  auto entity = s.trigger("conn-1", "github", {"wiki"});
  REQUIRE(s.run_to_end(entity->run));
  CHECK(s.world.row(entity->run)->error->message.find("'wiki'") != std::string::npos);
  CHECK(s.posts == 0);
}

TEST_CASE("backfill: a re-run sends only what is new or changed (B20)") {
  backfill_story s;
  REQUIRE(s.world.boot());
  auto first = s.trigger("conn-1");
  REQUIRE(s.run_to_end(first->run));
  const auto sent = s.posts;
  auto second = s.trigger("conn-1");
  REQUIRE(s.run_to_end(second->run));
  CHECK(s.posts == sent);
  const auto result = s.result_of(second->run);
  CHECK(result.totals.skipped == s.ledger("distinct"));
  CHECK(result.totals.delivered == 0);
  CHECK(s.world.row(second->run)->status == run_status::completed);
}

TEST_CASE("backfill: a poison event goes to the dead letters and the page goes on (B18)") {
  auto o = backfill_story::small();
  o.faults.poison_every = 40;
  backfill_story s{o};
  REQUIRE(s.world.boot());
  auto run = s.trigger("conn-1");
  REQUIRE(s.run_to_end(run->run));
  const auto result = s.result_of(run->run);
  CHECK(s.world.row(run->run)->status == run_status::partial);
  CHECK(result.totals.dead > 0);
  CHECK(result.totals.dead == table_rows(s.world, table::dlq));
  CHECK(result.totals.balances());
  s.nothing_lost();
}

TEST_CASE("backfill: events of a disabled type are kept, not sent (B21)") {
  auto o = backfill_story::small();
  o.disabled_types = {"release"};
  backfill_story s{o};
  REQUIRE(s.world.boot());
  auto run = s.trigger("conn-1");
  REQUIRE(s.run_to_end(run->run));
  const auto result = s.result_of(run->run);
  CHECK(s.world.row(run->run)->status == run_status::completed);
  const auto& releases = unit_of(result, "release");
  CHECK(releases.counts.gated > 0);
  CHECK(releases.counts.delivered == 0);
  CHECK(releases.counts.balances());
  CHECK(table_rows(s.world, table::gated) == releases.counts.gated);
}

TEST_CASE("backfill: tokens that expire are renewed inside the step (B12)") {
  auto o = backfill_story::small();
  o.token_ttl = duration{20};
  o.pulls = 600;
  backfill_story s{o};
  REQUIRE(s.world.boot());
  auto run = s.trigger("conn-1", "github", {"pull_request"});
  REQUIRE(s.run_to_end(run->run));
  CHECK(s.world.row(run->run)->status == run_status::completed);
  s.nothing_lost();
  CHECK(s.ledger("gateway_tokens") > 1);
}

TEST_CASE("backfill: a resource that is gone fails its unit and no other (B23, B9)") {
  backfill_story s;
  s.before = [](const http_request& r) -> std::optional<http_response> {
    if (r.url.find("/releases") == std::string::npos) return std::nullopt;
    http_response gone;
    gone.status = 404;
    gone.final_url = r.url;
    gone.body = R"({"message":"Not Found"})";
    return gone;
  };
  REQUIRE(s.world.boot());
  auto run = s.trigger("conn-1");
  REQUIRE(s.run_to_end(run->run));
  CHECK(s.world.row(run->run)->status == run_status::partial);
  const auto result = s.result_of(run->run);
  const auto& releases = unit_of(result, "release");
  CHECK(releases.status == run_status::failed);
  REQUIRE(releases.error);
  CHECK(releases.error->code == "gone");
  CHECK(result.units_succeeded == 2);
  // No retry.
  CHECK(
    std::count_if(s.gets.begin(), s.gets.end(),
                  [](const std::string& url) { return url.find("/releases") != std::string::npos; })
    == 1);
}

TEST_CASE("backfill: with every fault on, nothing is lost (B15, B25, B28, I8)") {
  auto o = backfill_story::small();
  o.seed = GENERATE(1U, 2U, 3U, 4U, 5U);
  o.pulls = 450;
  o.faults.provider_errors = 0.05;
  o.faults.truncated = 0.03;
  o.faults.html = 0.02;
  o.faults.shift_every = 2;
  o.faults.gateway_errors = 0.03;
  o.faults.gateway_busy = 0.01;
  o.faults.lost_answers = 0.01;
  o.token_ttl = duration{500};
  backfill_story s{o};
  REQUIRE(s.world.boot());
  auto run = s.trigger("conn-1");
  REQUIRE(s.run_to_end(run->run));
  INFO("seed " << o.seed);
  CHECK(s.world.row(run->run)->status == run_status::completed);
  s.nothing_lost();
}
