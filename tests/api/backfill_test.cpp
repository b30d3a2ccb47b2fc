#include "tests/api/backfills.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace sluice::test;

namespace {

json::document shown(api_world& world, const char* run) {
  auto r = world.ask("GET", "/runs/" + std::string{run});
  INFO(r.body);
  REQUIRE(r.status == 200);
  auto body = json::document::parse(r.body);
  REQUIRE(body);
  return std::move(*body);
}

std::string text(const json::cursor& c, std::string_view name) {
  const auto member = c.find(name);
  return member && !member->is_null() ? std::string{*member->str()} : std::string{};
}

std::uint64_t number(const json::cursor& c, std::string_view name) {
  return *c.find(name)->u64();
}

} // namespace

TEST_CASE("backfill: a live one is shown with its units and what they wait for (B31)") {
  api_world world;
  backfills store;
  store.add(first_run, run_status::running);
  auto issues = a_unit("1", "issue", run_status::running);
  issues.pages_expected = 6;
  store.put(first_run, issues);
  store.put(first_run, a_unit("1", "release", run_status::completed));
  store.serve(world.does);
  std::vector<run_id> looked_at;
  world.does.look_at = [&](const look_at_run& q) {
    looked_at.push_back(q.run);
    if (q.run != id_of(unit_run)) return run_look{true, run_status::running, {}, "host 1"};
    return run_look{true,
                    run_status::running,
                    {{"fetch-issue-p3", "gate: rate limit", from_millis(1'700'000'060'000)}},
                    "host 2"};
  };
  const auto body = shown(world, first_run);
  const auto run = body.root();
  CHECK(text(run, "provider") == "github");
  CHECK(text(run, "orgId") == "o-1");
  CHECK(text(run, "installationId") == "i-1");
  CHECK(run.find("certificate")->is_null());
  CHECK(run.find("since")->is_null());
  // Only what is live is asked what it waits for.
  CHECK(looked_at == std::vector<run_id>{id_of(first_run), id_of(unit_run)});
  const auto units = *run.find("units")->items();
  REQUIRE(units.size() == 2);
  CHECK(text(units[0], "unit") == "1~issue");
  CHECK(text(units[0], "entityType") == "issue");
  CHECK(text(units[0], "resourceName") == "acme/1");
  CHECK(text(units[0], "status") == "running");
  CHECK(*units[0].find("success")->boolean() == false);
  CHECK(number(units[0], "eventsProduced") == 150);
  CHECK(number(units[0], "eventsDispatched") == 150);
  CHECK(number(units[0], "pagesProcessed") == 2);
  CHECK(*units[0].find("eventsPerSecond")->number() == 15.0); // 150 in 10 s
  CHECK(text(units[0], "eta") == "2023-11-14T22:13:50.000Z"); // 4 more pages, 5 s each
  CHECK(text(*units[0].find("waiting"), "reason") == "gate: rate limit");
  CHECK(text(*units[0].find("waiting"), "until") == "2023-11-14T22:14:20.000Z");
  CHECK(text(units[0], "entityRun") == unit_run);
  CHECK(text(units[0], "run") == first_run);
  CHECK(units[1].find("waiting")->is_null());
  CHECK(*units[1].find("certificate")->find("balances")->boolean());
  const auto totals = *run.find("totals");
  CHECK(number(totals, "units") == 2);
  CHECK(number(totals, "unitsLive") == 1);
  CHECK(number(totals, "unitsCompleted") == 1);
  CHECK(number(totals, "eventsDispatched") == 300);
  CHECK(number(*totals.find("counts"), "filtered") == 100);
}

TEST_CASE("backfill: an ended one has since, totals and its certificate (B9)") {
  api_world world;
  backfills store;
  store.add(first_run, run_status::running);
  auto issues = a_unit("1", "issue", run_status::failed);
  issues.error = failure{"gone", "the repository is gone", "fetch-issue-p1", false};
  issues.digest = "d1";
  store.put(first_run, issues);
  backfill_result how;
  how.since = from_millis(1'690'000'000'000);
  how.digest = "abc";
  how.units_planned = 1;
  how.pages = 2;
  store.end(first_run, run_status::failed, how);
  store.serve(world.does);
  const auto body = shown(world, first_run);
  const auto run = body.root();
  CHECK(text(run, "status") == "failed");
  CHECK(text(run, "since") == "2023-07-22T04:26:40.000Z");
  CHECK(text(*run.find("certificate"), "digest") == "abc");
  const auto units = *run.find("units")->items();
  REQUIRE(units.size() == 1);
  CHECK(text(*units[0].find("error"), "code") == "gone");
  CHECK(text(*units[0].find("certificate"), "digest") == "d1");
  CHECK(number(*run.find("totals"), "unitsFailed") == 1);
}

TEST_CASE("backfill: the old run shows the latest certificate of a retried unit (B10, I22)") {
  api_world world;
  backfills store;
  store.add(first_run, run_status::partial);
  store.put(first_run, a_unit("1", "issue", run_status::failed));
  store.put(first_run, a_unit("1", "release", run_status::completed));
  auto once = a_unit("1", "issue", run_status::failed);
  once.retry_of = first_run;
  store.add(second_run, run_status::failed);
  store.put(second_run, once);
  // The retry of the retry.
  auto twice = a_unit("1", "issue", run_status::completed);
  twice.retry_of = second_run;
  twice.pages = 9;
  store.add(third_run, run_status::completed);
  store.put(third_run, twice);
  store.serve(world.does);
  const auto body = shown(world, first_run);
  const auto run = body.root();
  CHECK(text(run, "status") == "partial");
  CHECK(number(*run.find("totals"), "pagesProcessed") == 4);
  CHECK(number(*run.find("totals"), "unitsCompleted") == 1);
  const auto units = *run.find("units")->items();
  REQUIRE(units.size() == 2);
  CHECK(*units[0].find("success")->boolean());
  CHECK(number(units[0], "pagesProcessed") == 9);
  CHECK(text(units[0], "run") == third_run);
  CHECK(text(units[0], "retryOf") == second_run);
  CHECK(text(units[1], "run") == first_run);
}

TEST_CASE("backfill: rows come page by page, and more than the limit are left out") {
  api_world world;
  backfills store;
  store.add(first_run, run_status::running);
  for (std::size_t i = 0; i < 1234; ++i)
    store.put(first_run, a_unit(std::to_string(i), "issue", run_status::completed));
  store.serve(world.does);
  auto body = shown(world, first_run);
  CHECK(body.root().find("units")->items()->size() == 1234);
  CHECK(*body.root().find("unitsMore")->boolean() == false);
  for (std::size_t i = 1234; i < api::units_max + 7; ++i)
    store.put(first_run, a_unit(std::to_string(i), "issue", run_status::completed));
  body = shown(world, first_run);
  CHECK(body.root().find("units")->items()->size() == api::units_max);
  CHECK(*body.root().find("unitsMore")->boolean());
}
