#include "tests/api/backfills.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace sluice::test;

namespace {

bool has(const http::response& r, std::string_view part) {
  return r.body.find(part) != std::string::npos;
}

/// Takes every request and remembers it.
struct counter {
  std::vector<run_request> asked;

  explicit counter(script& does) {
    does.start = [this](const request_runs& q) -> caf::result<runs_accepted> {
      asked.push_back(q.runs.front());
      return runs_accepted{{{id_of(second_run), "c-2", run_status::pending, false}}};
    };
  }
};

} // namespace

TEST_CASE("trigger: a backfill is asked for with its tenant and installation (B1)") {
  api_world world{two_providers()};
  counter events{world.does};
  auto r =
    world.ask("POST", "/trigger", R"({"installationId":"i-1","provider":"github","orgId":"o-1"})");
  CHECK(r.status == 202);
  CHECK(r.body
        == R"({"runId":")" + std::string{second_run}
             + R"(","correlationId":"c-2","status":"pending","existing":false})");
  REQUIRE(events.asked.size() == 1);
  const auto& asked = events.asked.front();
  CHECK(asked.workflow == "backfill.run");
  CHECK(asked.tenant == "o-1");
  CHECK(asked.installation == "i-1");
  CHECK(asked.on_conflict == conflict_policy::queue);
  const auto input = json::decode<backfill_request>(asked.input);
  REQUIRE(input);
  CHECK(input->depth_days == 30);
  CHECK(input->entities.empty());
  CHECK(!input->retry);
}

TEST_CASE("trigger: depth, types, policy and key are passed on (B1)") {
  api_world world{two_providers()};
  counter events{world.does};
  CHECK(world
          .ask("POST", "/trigger",
               R"({"installationId":"i-1","provider":"github","orgId":"o-1","depth":90,)"
               R"("entityTypes":["issue","release"],"onConflict":"merge","idempotencyKey":"k"})")
          .status
        == 202);
  REQUIRE(events.asked.size() == 1);
  CHECK(events.asked[0].on_conflict == conflict_policy::merge);
  CHECK(events.asked[0].idempotency_key == "k");
  const auto input = json::decode<backfill_request>(events.asked[0].input);
  REQUIRE(input);
  CHECK(input->depth_days == 90);
  CHECK(input->entities == std::vector<std::string>{"issue", "release"});
}

TEST_CASE("trigger: a backfill that POST /runs starts has its installation too (B1)") {
  api_world world{two_providers()};
  counter events{world.does};
  CHECK(world
          .ask("POST", "/runs",
               R"({"workflow":"backfill.run","input":{"installationId":"i-1","orgId":"o-1"}})")
          .status
        == 202);
  REQUIRE(events.asked.size() == 1);
  CHECK(events.asked[0].installation == "i-1");
  CHECK(events.asked[0].tenant == "o-1");
}

TEST_CASE("trigger: one 400 names every wrong field and nothing is stored (B1, J12)") {
  api_world world{two_providers()};
  counter events{world.does};
  auto r = world.ask("POST", "/trigger",
                     R"({"installationId":"","provider":"gitlab","depth":"30",)"
                     R"("entityTypes":[1],"onConflict":"drop","deep":1})");
  CHECK(r.status == 400);
  CHECK(has(r, R"("code":"VALIDATION_ERROR")"));
  for (const char* field :
       {"installationId", "provider", "orgId", "depth", "entityTypes", "onConflict", "deep"}) {
    CAPTURE(field);
    CHECK(has(r, R"({"field":")" + std::string{field} + R"(",)"));
  }
  r = world.ask("POST", "/trigger",
                R"({"installationId":"i","provider":"vercel","orgId":"o","depth":8,)"
                R"("entityTypes":["issue","deployment","deployment"]})");
  CHECK(has(r, "'issue' is none of vercel's: deployment"));
  CHECK(has(r, "'deployment' is there twice"));
  CHECK(has(r, "must be one of the numbers 7, 30, 90"));
  for (const char* body : {"", "{", "[]", "null"}) {
    CAPTURE(body);
    CHECK(world.ask("POST", "/trigger", body).status == 400);
  }
  CHECK(events.asked.empty());
}

TEST_CASE("trigger: a rejected one is a 409 that says which run is under way (B1)") {
  api_world world{two_providers()};
  world.does.start = [](const request_runs& q) -> caf::result<runs_accepted> {
    CHECK(q.runs.front().on_conflict == conflict_policy::reject);
    return make_error(errc::already_running, "run 7 of this installation is under way");
  };
  auto r = world.ask(
    "POST", "/trigger",
    R"({"installationId":"i-1","provider":"github","orgId":"o-1","onConflict":"reject"})");
  CHECK(r.status == 409);
  CHECK(has(r, R"("code":"JOB_ALREADY_RUNNING")"));
  CHECK(has(r, "run 7"));
}

TEST_CASE("retry: a unit that is no success runs again, from its latest certificate (B10)") {
  api_world world{two_providers()};
  counter events{world.does};
  backfills store;
  store.add(first_run, run_status::partial);
  store.put(first_run, a_unit("1", "issue", run_status::failed));
  store.put(first_run, a_unit("1", "release", run_status::completed));
  store.serve(world.does);
  const auto path = "/runs/" + std::string{first_run} + "/units/1~issue/retry";
  auto r = world.ask("POST", path);
  CHECK(r.status == 202);
  CHECK(has(r, R"("retryOf":{"run":")" + std::string{first_run} + R"(","unit":"1~issue"})"));
  REQUIRE(events.asked.size() == 1);
  CHECK(events.asked[0].installation == "i-1");
  CHECK(events.asked[0].tenant == "o-1");
  CHECK(events.asked[0].on_conflict == conflict_policy::queue);
  auto input = json::decode<backfill_request>(events.asked[0].input);
  REQUIRE(input->retry);
  CHECK(input->retry->run == first_run);
  CHECK(input->retry->unit == "1~issue");

  // That retry failed too: the next one goes on from where it stood.
  store.add(second_run, run_status::failed);
  auto again = a_unit("1", "issue", run_status::failed);
  again.retry_of = first_run;
  store.put(second_run, again);
  CHECK(world.ask("POST", path).status == 202);
  REQUIRE(events.asked.size() == 2);
  input = json::decode<backfill_request>(events.asked[1].input);
  CHECK(input->retry->run == second_run);
}

TEST_CASE("retry: asked twice at once it has one key; a run that left no trace frees it (B10)") {
  api_world world{two_providers()};
  backfills store;
  store.add(first_run, run_status::failed);
  store.put(first_run, a_unit("1", "issue", run_status::failed));
  store.serve(world.does);
  std::vector<std::string> keys;
  world.does.start = [&](const request_runs& q) -> caf::result<runs_accepted> {
    keys.push_back(q.runs.front().idempotency_key);
    const bool past = keys.size() == 1;
    return runs_accepted{
      {{id_of(second_run), "c", past ? run_status::failed : run_status::pending, past}}};
  };
  CHECK(world.ask("POST", "/runs/" + std::string{first_run} + "/units/1~issue/retry").status
        == 202);
  REQUIRE(keys.size() == 2);
  CHECK(keys[0] == "retry/" + std::string{first_run} + "/1~issue/0");
  CHECK(keys[1] == "retry/" + std::string{first_run} + "/1~issue/1");
}

TEST_CASE("retry: only of an ended run and of a unit that is no success (B10)") {
  api_world world{two_providers()};
  backfills store;
  store.add(first_run, run_status::running);
  store.put(first_run, a_unit("1", "issue", run_status::failed));
  store.put(first_run, a_unit("1", "release", run_status::completed));
  store.serve(world.does);
  const auto base = "/runs/" + std::string{first_run} + "/units/";
  CHECK(world.ask("POST", base + "1~issue/retry").status == 409);
  store.runs[id_of(first_run)].row->status = run_status::partial;
  auto r = world.ask("POST", base + "1~release/retry");
  CHECK(r.status == 409);
  CHECK(has(r, "the unit is a success"));
  CHECK(world.ask("POST", base + "2~issue/retry").status == 404);
  CHECK(world.ask("POST", "/runs/" + std::string{third_run} + "/units/1~issue/retry").status
        == 404);

  store.add(second_run, run_status::running);
  auto live = a_unit("1", "issue", run_status::running);
  live.retry_of = first_run;
  store.put(second_run, live);
  r = world.ask("POST", base + "1~issue/retry");
  CHECK(r.status == 409);
  CHECK(has(r, R"("code":"JOB_ALREADY_RUNNING")"));
}

TEST_CASE("cancel: by installation it ends all its backfills, the newest first (B3)") {
  api_world world{two_providers()};
  find_live_runs asked;
  world.does.live = [&](const find_live_runs& q) -> caf::result<live_runs_found> {
    asked = q;
    return live_runs_found{{id_of(first_run), id_of(second_run), id_of(third_run)}};
  };
  std::vector<run_id> cancelled;
  world.does.cancel = [&](const cancel_run& q) -> caf::result<run_stopped> {
    cancelled.push_back(q.run);
    CHECK(q.reason == "moved");
    if (q.run == id_of(second_run)) return make_error(errc::conflict, "the run has ended");
    return run_stopped{{q.run}};
  };
  auto r = world.ask("POST", "/cancel", R"({"installationId":"i-1","reason":"moved"})");
  CHECK(r.status == 202);
  CHECK(r.body == R"({"cancelled":[")" + std::string{first_run} + R"(",")" + third_run + R"("]})");
  CHECK(asked.workflow == "backfill.run");
  CHECK(asked.installation == "i-1");
  CHECK(cancelled == std::vector<run_id>{id_of(third_run), id_of(second_run), id_of(first_run)});

  world.does.live = [](const find_live_runs&) -> caf::result<live_runs_found> {
    return live_runs_found{};
  };
  CHECK(world.ask("POST", "/cancel", R"({"installationId":"i-2"})").status == 404);
  CHECK(world.ask("POST", "/cancel", "{}").status == 400);
  CHECK(world
          .ask("POST", "/cancel",
               R"({"installationId":"i","runId":")" + std::string{first_run} + R"("})")
          .status
        == 400);
}
