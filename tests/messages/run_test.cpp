#include "messages/run.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("run: every status is found by the name that users see") {
  for (std::uint8_t n = 0; n <= 7; ++n) {
    const auto s = static_cast<run_status>(n);
    CHECK(to_string(s) != "unknown");
    CHECK(run_status_from_string(to_string(s)) == s);
  }
  CHECK_FALSE(run_status_from_string("unknown"));
  CHECK_FALSE(run_status_from_string(""));
}

TEST_CASE("run: four statuses are for good (I22)") {
  CHECK(is_terminal(run_status::completed));
  CHECK(is_terminal(run_status::partial));
  CHECK(is_terminal(run_status::failed));
  CHECK(is_terminal(run_status::cancelled));
  CHECK_FALSE(is_terminal(run_status::parked));
  CHECK_FALSE(is_terminal(run_status::recovering));
}

TEST_CASE("run: a row with everything in it comes back from JSON as it was") {
  uuid_source ids{1};
  const auto now = from_millis(1'795'002'545'120);
  run_row row;
  row.id = {ids.next(now)};
  row.workflow = "example.calls";
  row.code_version = 3;
  row.tenant = "t\"1";
  row.installation = "i";
  row.status = run_status::parked;
  row.reason = "a person must look";
  row.why = ending::time_out;
  row.error = failure{"step_failed", "no", "fetch-p1", false};
  row.crashes = 2;
  row.crash_seq = 1ULL << 63;
  row.parent = {ids.next(now)};
  row.keys = {"a", "b"};
  row.correlation = "c";
  row.traceparent = "00-1-2-01";
  row.dedupe_key = "d";
  row.requested_at = now;
  row.started_at = now + duration{1};
  row.ended_at = now + duration{2};
  auto back = json::decode<run_row>(json::encode(row));
  REQUIRE(back);
  CHECK(*back == row);
}
