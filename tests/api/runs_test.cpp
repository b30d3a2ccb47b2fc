#include "tests/api/api_world.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace sluice::test;

namespace {

const char* const one = "018bcfe5-6800-7000-8000-000000000001";
const char* const two = "018bcfe5-6800-7000-8000-000000000002";

run_id id_of(const char* text) {
  return run_id{*parse_uuid(text)};
}

run_row row_of(const char* id) {
  run_row row;
  row.id = id_of(id);
  row.workflow = "example.calls";
  row.status = run_status::running;
  row.correlation = "c-1";
  row.requested_at = from_millis(1'700'000'000'000);
  return row;
}

} // namespace

TEST_CASE("runs: a run is asked for once and answered 202") {
  api_world world;
  std::vector<run_request> asked;
  world.does.start = [&](const request_runs& q) -> caf::result<runs_accepted> {
    asked.insert(asked.end(), q.runs.begin(), q.runs.end());
    return runs_accepted{{{id_of(one), q.runs.front().correlation, run_status::pending, false}}};
  };
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  auto r = world.ask("POST", "/runs",
                     R"({"workflow":"example.calls","input":{"n": 3},"idempotencyKey":"k"})",
                     {{"x-correlation-id", "c-7"}, {"Traceparent", trace}});
  CHECK(r.status == 202);
  CHECK(r.body
        == R"({"runId":")" + std::string{one} + R"(","correlationId":"c-7","status":"pending"})");
  CHECK(header(r, "X-Correlation-Id") == "c-7");
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].workflow == "example.calls");
  CHECK(asked[0].input == R"({"n":3})");
  CHECK(asked[0].idempotency_key == "k");
  CHECK(asked[0].traceparent == trace);

  r = world.ask("POST", "/runs", R"({"workflow":"w","input":"text"})", {{"Traceparent", "junk"}});
  REQUIRE(asked.size() == 2);
  CHECK(asked[1].input == R"("text")");
  CHECK(asked[1].traceparent.empty());
  CHECK(parse_uuid(asked[1].correlation));
  CHECK(header(r, "X-Correlation-Id") == asked[1].correlation);
}

TEST_CASE("runs: a bad body is answered with each wrong field, and asks nobody (B1)") {
  api_world world;
  auto r = world.ask("POST", "/runs", R"({"workflow":7,"idempotencyKey":"","inputs":1})");
  CHECK(r.status == 400);
  CHECK(r.body.find(R"("code":"VALIDATION_ERROR")") != std::string::npos);
  CHECK(r.body.find(R"({"field":"workflow","message":"must be a string"})") != std::string::npos);
  CHECK(r.body.find(R"({"field":"idempotencyKey","message":"must have 1 to 200 bytes"})")
        != std::string::npos);
  CHECK(r.body.find(R"({"field":"inputs","message":"unknown"})") != std::string::npos);
  for (const char* body : {"", "{", "[]", "7", "{}", R"({"workflow":"a","workflow":"b"})"}) {
    CAPTURE(body);
    CHECK(world.ask("POST", "/runs", body).status == 400);
  }
}

TEST_CASE("runs: the node's refusal keeps its status and names its field") {
  api_world world;
  auto refused = [&](errc code, const char* detail) {
    world.does.start = [=](const request_runs&) -> caf::result<runs_accepted> {
      return make_error(code, detail);
    };
    return world.ask("POST", "/runs", R"({"workflow":"w"})");
  };
  auto r = refused(errc::bad_input, "input/limit: expected integer, got string");
  CHECK(r.status == 400);
  CHECK(r.body.find(R"({"field":"input/limit","message":"expected integer, got string"})")
        != std::string::npos);
  r = refused(errc::disk_full, "the disk is full");
  CHECK(r.status == 503);
  CHECK(r.body.find(R"("code":"STORAGE_ERROR")") != std::string::npos);
  CHECK(r.body.find(R"("retryable":true)") != std::string::npos);
  CHECK(refused(errc::conflict, "used before").status == 409);
}

TEST_CASE("runs: the list passes filters on and gives a cursor") {
  api_world world;
  query_runs asked;
  world.does.query = [&](const query_runs& q) -> caf::result<run_page> {
    asked = q;
    return run_page{{row_of(two), row_of(one)}, id_of(one)};
  };
  auto r = world.ask("GET", "/runs?status=running&workflow=w&installationId=i&limit=2&cursor="
                              + std::string{two});
  CHECK(r.status == 200);
  CHECK(asked.filter.status == run_status::running);
  CHECK(asked.filter.workflow == "w");
  CHECK(asked.filter.installation == "i");
  CHECK(asked.limit == 2);
  CHECK(asked.before == id_of(two));
  auto body = json::document::parse(r.body);
  REQUIRE(body);
  CHECK(*body->root().find("next")->str() == one);
  auto runs = *body->root().find("runs")->items();
  REQUIRE(runs.size() == 2);
  CHECK(*runs[0].find("runId")->str() == two);
  CHECK(*runs[0].find("requestedAt")->str() == "2023-11-14T22:13:20.000Z");
  CHECK(runs[0].find("endedAt")->is_null());

  CHECK(world.ask("GET", "/runs?status=&limit=").status == 200);
  CHECK(!asked.filter.status);
  CHECK(asked.limit == 50);
  for (const char* query :
       {"status=done", "limit=0", "limit=501", "limit=x", "cursor=7", "sort=up"}) {
    CAPTURE(query);
    CHECK(world.ask("GET", std::string{"/runs?"} + query).status == 400);
  }
}

TEST_CASE("runs: a live run is shown with its steps and waits (H21)") {
  api_world world;
  world.does.find = [](const find_run&) -> caf::result<run_found> {
    run_found found;
    found.row = row_of(one);
    found.input = R"({"n":3})";
    return found;
  };
  load_steps asked;
  world.does.steps = [&](const load_steps& q) -> caf::result<step_page> {
    asked = q;
    step_record done;
    done.name = "call-1";
    done.payload = "42";
    done.attempt = 2;
    step_record failed;
    failed.ordinal = 1;
    failed.name = "call-2";
    failed.status = step_status::failed;
    failed.payload = R"({"code":"network"})";
    run_memo memo;
    memo.run = id_of(one);
    memo.steps = {done, failed};
    return step_page{{memo}, step_position{0, 1}};
  };
  world.does.look = {true, run_status::running, {{"call-3", "retry 2", never}}, "run-host 1"};
  auto r = world.ask("GET", std::string{"/runs/"} + one + "?stepsAfter=5");
  CHECK(r.status == 200);
  CHECK(asked.after.ordinal == 5U);
  auto body = json::document::parse(r.body);
  REQUIRE(body);
  auto run = body->root();
  CHECK(run.find("input")->text() == R"({"n":3})");
  CHECK(run.find("result")->is_null());
  auto steps = *run.find("steps")->items();
  REQUIRE(steps.size() == 2);
  CHECK(*steps[0].find("name")->str() == "call-1");
  CHECK(*steps[0].find("failedAttempts")->u64() == 2);
  CHECK(*steps[0].find("resultBytes")->u64() == 2);
  CHECK(*steps[1].find("error")->find("code")->str() == "network");
  CHECK(*run.find("stepsNext")->u64() == 1);
  auto waits = *run.find("waits")->items();
  REQUIRE(waits.size() == 1);
  CHECK(*waits[0].find("reason")->str() == "retry 2");
  CHECK(*run.find("host")->str() == "run-host 1");
}

TEST_CASE("runs: an ended run is shown with its result") {
  api_world world;
  world.does.find = [](const find_run&) -> caf::result<run_found> {
    run_found found;
    found.row = row_of(one);
    found.row->status = run_status::completed;
    found.ended.emplace();
    found.ended->data = R"({"status":3,"result":{"sum":6},"error":null})";
    return found;
  };
  world.does.steps = [](const load_steps&) -> caf::result<step_page> { return step_page{}; };
  auto body = json::document::parse(world.ask("GET", std::string{"/runs/"} + one).body);
  REQUIRE(body);
  CHECK(body->root().find("result")->text() == R"({"sum":6})");
  CHECK(body->root().find("stepsNext")->is_null());
}

TEST_CASE("runs: an unknown run is a clean 404 (H21)") {
  api_world world;
  world.does.find = [](const find_run&) -> caf::result<run_found> { return run_found{}; };
  for (const auto& id : {std::string{one}, std::string{"7"}, std::string{"%2e%2e"}}) {
    auto r = world.ask("GET", "/runs/" + id);
    CHECK(r.status == 404);
    CHECK(r.body.find(R"("code":"JOB_NOT_FOUND")") != std::string::npos);
  }
}

TEST_CASE("runs: a parked run is resumed, another is a conflict") {
  api_world world;
  world.does.resume = [](const resume_run&) -> caf::result<run_resumed> { return run_resumed{}; };
  auto r = world.ask("POST", std::string{"/runs/"} + one + "/resume");
  CHECK(r.status == 202);
  CHECK(r.body == R"({"runId":")" + std::string{one} + R"(","status":"recovering"})");
  world.does.resume = [](const resume_run&) -> caf::result<run_resumed> {
    return make_error(errc::conflict, "the run is not parked");
  };
  CHECK(world.ask("POST", std::string{"/runs/"} + one + "/resume").status == 409);
}

TEST_CASE("runs: a cancel is answered when the work has stopped (P11)") {
  api_world world;
  cancel_run asked;
  world.does.cancel = [&](const cancel_run& q) -> caf::result<run_stopped> {
    asked = q;
    return run_stopped{{q.run}};
  };
  const auto body = R"({"runId":")" + std::string{one} + R"(","reason":"wrong window"})";
  auto r = world.ask("POST", "/cancel", body);
  CHECK(r.status == 202);
  CHECK(r.body == R"({"cancelled":[")" + std::string{one} + R"("]})");
  CHECK(asked.reason == "wrong window");

  world.does.cancel = [](const cancel_run&) -> caf::result<run_stopped> {
    return make_error(errc::conflict, "the run has ended: completed");
  };
  r = world.ask("POST", "/cancel", body);
  CHECK(r.status == 404);
  CHECK(r.body.find(R"("code":"CANCELLATION_FAILED")") != std::string::npos);
  world.does.cancel = [](const cancel_run&) -> caf::result<run_stopped> {
    return make_error(errc::not_found, "no such run");
  };
  r = world.ask("POST", "/cancel", body);
  CHECK(r.status == 404);
  CHECK(r.body.find(R"("code":"JOB_NOT_FOUND")") != std::string::npos);
  CHECK(world.ask("POST", "/cancel", R"({"runId":"7"})").status == 400);
  CHECK(world.ask("POST", "/cancel", "{}").status == 400);
}

TEST_CASE("events: an event is passed on, the engine's own are refused") {
  api_world world;
  event told;
  world.does.publish = [&](const publish_event& q) -> caf::result<event_published> {
    told = q.what;
    return event_published{true};
  };
  auto r = world.ask("POST", "/events",
                     R"({"kind":"order.approved","subject":"o-1","data":[1],"idempotencyKey":"k"})",
                     {{"X-Correlation-Id", "c-7"}});
  CHECK(r.status == 202);
  CHECK(r.body == R"({"existing":true,"correlationId":"c-7"})");
  CHECK(told.kind == "order.approved");
  CHECK(told.subject == "o-1");
  CHECK(told.data == "[1]");
  CHECK(told.key == "k");
  CHECK(told.correlation == "c-7");
  for (const char* kind : {"run.requested", "run.ended", "step.failed"}) {
    const auto body = R"({"kind":")" + std::string{kind} + R"(","subject":"x"})";
    CHECK(world.ask("POST", "/events", body).status == 400);
  }
  CHECK(world.ask("POST", "/events", R"({"kind":"a"})").status == 400);
}
