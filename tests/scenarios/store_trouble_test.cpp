#include "tests/support/story.hpp"
#include "workflows/examples.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

catalog examples() {
  catalog flows;
  add_examples(flows, {});
  return flows;
}

} // namespace

TEST_CASE("disk full: requests are refused, runs go on when there is room (I19, F21)") {
  auto flows = examples();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("example.counter", R"({"steps":50,"pauseMs":100})");
  REQUIRE(run);
  w.pass_time(duration{1000});
  w.disk->quota_bytes = w.disk->used_bytes;
  w.pass_time(duration{5000});
  auto unwanted = w.start("example.counter", R"({"steps":1})");
  REQUIRE(!unwanted);
  CHECK(refused(unwanted, errc::disk_full));
  auto unheard = w.publish("a", "b");
  REQUIRE(!unheard);
  CHECK(refused(unheard, errc::disk_full));
  CHECK(w.death().empty());
  CHECK(w.look(run->run).live);
  w.disk->quota_bytes = 0;
  w.pass_time(duration{2000});
  CHECK(w.start("example.counter", R"({"steps":1})"));
  w.pass_time(duration{20'000});
  CHECK(w.outcome(run->run)->result.text == R"({"sum":1275,"steps":50})");
}

TEST_CASE("disk full: the request that finds it out is refused at once and leaves nothing (I19)") {
  auto flows = examples();
  world w{flows};
  REQUIRE(w.boot());
  w.disk->quota_bytes = w.disk->used_bytes + 1;
  CHECK(refused(w.start("example.counter", R"({"steps":1})", "k"), errc::disk_full));
  CHECK(refused(w.start("example.counter", R"({"steps":1})", "k"), errc::disk_full));
  CHECK(refused(w.publish("a", "b"), errc::disk_full));
  w.disk->quota_bytes = 0;
  w.pass_time(duration{5000});
  CHECK(w.disk->runs.empty());
  auto run = w.start("example.counter", R"({"steps":1})", "k");
  REQUIRE(run);
  CHECK(!run->existing);
}

TEST_CASE("disk full: what retention removes makes the room that others wait for (F21, J10)") {
  auto flows = examples();
  world_options o;
  o.retention = std::chrono::hours{1};
  world w{flows, o};
  REQUIRE(w.boot());
  for (int i = 0; i < 30; ++i)
    REQUIRE(w.start("example.counter", R"({"steps":20,"noteBytes":200})"));
  auto run = w.start("example.counter", R"({"steps":40,"pauseMs":600000})");
  w.disk->quota_bytes = w.disk->used_bytes + 500;
  w.pass_time(std::chrono::minutes{55});
  CHECK(refused(w.start("example.counter", R"({"steps":1})"), errc::disk_full));
  w.pass_time(std::chrono::hours{7});
  CHECK(w.death().empty());
  REQUIRE(w.outcome(run->run));
  CHECK(w.outcome(run->run)->result.text == R"({"sum":820,"steps":40})");
}

TEST_CASE("disk full: at every commit, nothing is lost and nothing is done twice (I19, I2)") {
  auto flows = examples();
  for (int at = 1; at < 16; ++at) {
    world w{flows};
    REQUIRE(w.boot());
    int commits = 0;
    int refusals = 0;
    w.store->fault = [&](const batch&) {
      if (++commits < at || refusals >= 3) return commit_fault::none;
      ++refusals;
      return commit_fault::full;
    };
    const auto wanted = keyed_request("example.counter", R"({"steps":4,"pauseMs":50})", "k");
    request_later(w, wanted);
    w.pass_time(duration{20'000});
    // Whoever was refused asks again.
    if (!run_of(w, "k")) request_later(w, wanted);
    w.pass_time(duration{20'000});
    INFO("full at commit " << at);
    CHECK(result_of(w, "k") == R"({"sum":10,"steps":4})");
  }
}

TEST_CASE("commits: an unknown outcome is resolved by asking, at every commit (4.4, I2)") {
  const auto fault = GENERATE(commit_fault::unknown_absent, commit_fault::unknown_written);
  auto flows = examples();
  for (int at = 1; at < 16; ++at) {
    world w{flows};
    REQUIRE(w.boot());
    int commits = 0;
    w.store->fault = [&](const batch&) { return ++commits == at ? fault : commit_fault::none; };
    request_later(w, keyed_request("example.counter", R"({"steps":4,"pauseMs":50})", "k"));
    w.pass_time(duration{20'000});
    INFO("unknown at commit " << at);
    CHECK(w.death().empty());
    CHECK(result_of(w, "k") == R"({"sum":10,"steps":4})");
    CHECK(w.events(event_kind::run_requested).size() == 1);
    CHECK(w.history(*run_of(w, "k")).size() == 12);
  }
}

TEST_CASE("commits: a store that fails or has another owner ends the node (F22)") {
  const auto fault = GENERATE(commit_fault::fail, commit_fault::fenced, commit_fault::conflict);
  auto flows = examples();
  world w{flows};
  REQUIRE(w.boot());
  w.store->fault = [&](const batch&) { return fault; };
  request_later(w, keyed_request("example.counter", R"({"steps":4})", "k"));
  w.settle();
  CHECK(w.death().find("journal: ") == 0);
  w.crash();
  REQUIRE(w.boot());
  request_later(w, keyed_request("example.counter", R"({"steps":4})", "k"));
  w.settle();
  CHECK(result_of(w, "k") == R"({"sum":10,"steps":4})");
}

TEST_CASE("commits: a slow store is waited for (F25)") {
  auto flows = examples();
  world w{flows};
  REQUIRE(w.boot());
  w.store->slow_polls = 20;
  request_later(w, keyed_request("example.counter", R"({"steps":4})", "k"));
  w.pass_time(duration{1000});
  CHECK(result_of(w, "k") == R"({"sum":10,"steps":4})");
}

TEST_CASE("rows: a terminal run never changes, whatever comes later (I22)") {
  auto flows = examples();
  world w{flows};
  std::map<run_id, run_row> ended;
  bool changed = false;
  w.disk->on_commit = [&](const memory_disk& disk, const batch&) {
    for (const auto& [id, run] : disk.runs) {
      auto known = ended.find(id);
      if (known != ended.end() && known->second != run.row) changed = true;
      if (is_terminal(run.row.status)) ended[id] = run.row;
    }
  };
  REQUIRE(w.boot());
  auto run = w.start("example.order", R"({"order":"o","items":2})");
  REQUIRE(w.publish("order.approved", "o"));
  REQUIRE(w.publish("order.approved", "o"));
  REQUIRE(w.publish("order.withdrawn", "o"));
  CHECK(!w.cancel(run->run));
  CHECK(!w.resume(run->run));
  w.pass_time(std::chrono::hours{48});
  w.crash();
  REQUIRE(w.boot());
  w.pass_time(std::chrono::hours{48});
  CHECK(w.row(run->run)->status == run_status::completed);
  CHECK(!changed);
  CHECK(ended.size() == 2);
}
