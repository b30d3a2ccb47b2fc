#include "api/errors.hpp"
#include "api/routes.hpp"
#include "tests/api/api_world.hpp"

#include <caf/sec.hpp>

#include <catch2/catch.hpp>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

TEST_CASE("api: an error has code, message, operation and time (J12)") {
  api_world world;
  auto r = world.ask("GET", "/nothing", "", {{"X-Correlation-Id", "c-7"}});
  CHECK(r.status == 404);
  CHECK(r.body
        == R"({"error":{"code":"NOT_FOUND","message":"there is nothing at this path",)"
           R"("details":null,"retryable":false},)"
           R"("metadata":{"operationId":"c-7","timestamp":"2023-11-14T22:13:20.000Z"}})");
  CHECK(header(r, "X-Correlation-Id") == "c-7");
}

TEST_CASE("api: a path that takes other methods says which") {
  api_world world;
  auto r = world.ask("PUT", "/runs");
  CHECK(r.status == 405);
  CHECK(header(r, "Allow") == "POST, GET");
  CHECK(r.body.find(R"("code":"METHOD_NOT_ALLOWED")") != std::string::npos);
  CHECK(world.ask("HEAD", "/health/live").status == 200);
  for (const char* path : {"/", "/runs/", "/runs//resume", "/runs/1/2/3", "/RUNS", "/%"}) {
    CAPTURE(path);
    const auto status = world.ask("GET", path).status;
    CHECK((status == 404 || status == 400));
  }
}

TEST_CASE("api: a correlation id that could break a log is refused") {
  api_world world;
  CHECK(world.ask("GET", "/health/live", "", {{"X-Correlation-Id", "a b"}}).status == 400);
  CHECK(world.ask("GET", "/health/live", "", {{"X-Correlation-Id", std::string(129, 'a')}}).status
        == 400);
  CHECK(world.ask("GET", "/health/live", "", {{"X-Correlation-Id", std::string(128, 'a')}}).status
        == 200);
}

TEST_CASE("api: health is live always, ready when the node writes and has recovered (H22)") {
  api_world world;
  CHECK(world.ask("GET", "/health/live").body == R"({"status":"healthy"})");
  world.does.counts.hosted = 3;
  auto r = world.ask("GET", "/health/ready");
  CHECK(r.status == 200);
  CHECK(r.body
        == R"({"status":"healthy","components":{)"
           R"("eventStore":{"status":"healthy","detail":"writable"},)"
           R"("queues":{"status":"healthy","detail":"0 pending, 3 running, 0 parked"}}})");
  world.does.counts.recovering = true;
  CHECK(world.ask("GET", "/health/ready").status == 503);
  world.does.counts.recovering = false;
  world.does.store = {store_state::full, "12 bytes left"};
  r = world.ask("GET", "/health/ready");
  CHECK(r.status == 503);
  CHECK(r.body.find("read-only: 12 bytes left") != std::string::npos);
  world.end_core();
  CHECK(world.ask("GET", "/health/ready").status == 503);
  CHECK(world.ask("GET", "/health/live").status == 200);
}

TEST_CASE("api: an actor that is gone or silent ends in 503 or 504, not in silence") {
  api_world world;
  world.does.query = [&](const query_runs&) -> caf::result<run_page> {
    return caf::delegated<run_page>{};
  };
  auto place = world.send({"GET", "/runs", {}, ""});
  world.settle();
  CHECK(!*place);
  world.pass_time(10s);
  REQUIRE(*place);
  CHECK((*place)->status == 504);
  CHECK((*place)->body.find(R"("retryable":true)") != std::string::npos);
  world.end_core();
  CHECK(world.ask("GET", "/runs").status == 503);
}

TEST_CASE("api: past its limit of open calls it answers 503 at once") {
  api_world world{{.open_max = 2}};
  world.does.query = [&](const query_runs&) -> caf::result<run_page> {
    return caf::delegated<run_page>{};
  };
  auto first = world.send({"GET", "/runs", {}, ""});
  auto second = world.send({"GET", "/runs", {}, ""});
  CHECK(world.ask("GET", "/runs").status == 503);
  CHECK(world.ask("GET", "/health/live").status == 503);
  world.pass_time(10s);
  CHECK((*first)->status == 504);
  CHECK((*second)->status == 504);
  CHECK(world.ask("GET", "/health/live").status == 200);
}

TEST_CASE("errors: every error has its status and code (J12)") {
  auto told = [](errc code) {
    auto p = api::to_problem(make_error(code, "x"));
    return std::to_string(p.status) + " " + p.code + (p.retryable ? " again" : "");
  };
  CHECK(told(errc::bad_input) == "400 VALIDATION_ERROR");
  CHECK(told(errc::not_found) == "404 JOB_NOT_FOUND");
  CHECK(told(errc::conflict) == "409 CONFLICT");
  CHECK(told(errc::unavailable) == "503 UNAVAILABLE again");
  CHECK(told(errc::disk_full) == "503 STORAGE_ERROR again");
  CHECK(told(errc::timed_out) == "504 TIMED_OUT again");
  CHECK(told(errc::too_large) == "413 TOO_LARGE");
  CHECK(told(errc::corrupt) == "500 STORAGE_ERROR");
  CHECK(told(errc::internal) == "500 INTERNAL");
  CHECK(api::to_problem(caf::make_error(caf::sec::request_timeout)).status == 504);
  CHECK(api::to_problem(caf::make_error(caf::sec::request_receiver_down)).status == 503);
  CHECK(api::to_problem(caf::make_error(caf::sec::runtime_error)).status == 500);
}

TEST_CASE("errors: a secret in an error does not reach the asker (S9)") {
  auto p = api::to_problem(make_error(errc::internal, "GET http://u:hunter2@h/: token=hunter2"));
  CHECK(p.message.find("hunter2") == std::string::npos);
}
