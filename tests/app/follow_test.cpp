#include "http/live_body.hpp"
#include "tests/app/live_node.hpp"
#include "tests/http/running_server.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <mutex>

using namespace sluice;
using namespace sluice::test;

namespace {

const std::string run_json_head = R"({"runId":"r-1","workflow":"backfill.run","status":)";

std::string unit(const std::string& status, int pages) {
  return R"({"unit":"1~issue","entityType":"issue","resourceId":"1","resourceName":"acme/a",)"
         R"("status":")"
         + status + R"(","pagesProcessed":)" + std::to_string(pages) + R"(,"eventsDispatched":)"
         + std::to_string(100 * pages) + "}";
}

std::string event_text(const std::string& name, const std::string& data) {
  return "event: " + name + "\ndata: " + data + "\n\n";
}

std::string progress(const std::string& status, int pages) {
  return event_text("progress",
                    run_json_head + "\"running\",\"units\":[" + unit(status, pages) + "]}");
}

std::string completed(const std::string& run, const std::string& of_unit) {
  return event_text("completed",
                    run_json_head + "\"" + run
                      + R"(","totals":{"units":1,"unitsCompleted":1,"eventsDispatched":300,)"
                        R"("pagesProcessed":3},"units":[)"
                      + unit(of_unit, 3) + "]}");
}

/// A node that tells of a backfill: one text per connection, whose last event may be cut off.
class telling_node {
public:
  explicit telling_node(std::vector<std::string> streams) : streams_{std::move(streams)} {}

  finished cli(std::vector<std::string> args) {
    args.insert(args.end(), {"--url", server_.url("")});
    return run(sluice_binary, args, {});
  }

  std::string body; ///< of the last POST
  std::string target;

private:
  void take(const http::request& r, const http::responder& reply) {
    std::lock_guard lock{mutex_};
    http::response answer;
    if (r.method == "POST") {
      body = r.body;
      target = r.target;
      answer.status = 202;
      answer.body = R"({"runId":"r-1","correlationId":"c","status":"pending"})";
      return reply(std::move(answer));
    }
    if (!r.target.ends_with("/events")) {
      answer.body = R"({"runId":"r-1","whole":true})";
      return reply(std::move(answer));
    }
    const auto text = streams_.at(std::min(next_++, streams_.size() - 1));
    answer.content_type = "text/event-stream";
    answer.live = std::make_shared<http::live_body>();
    answer.live->write(text);
    answer.live->end();
    reply(std::move(answer));
  }

  std::mutex mutex_;
  std::vector<std::string> streams_;
  std::size_t next_ = 0;
  running_server server_{
    {}, [this](const http::request& r, const http::responder& reply) { take(r, reply); }};
};

const std::vector<std::string> trigger{"trigger", "--installation", "i-1", "--provider",
                                       "github",  "--org",          "o-1"};

std::vector<std::string> with(std::vector<std::string> args, const std::vector<std::string>& more) {
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

} // namespace

TEST_CASE("follow: a line per change, a table at the end, 0 when every unit succeeded (B2)") {
  telling_node node{{progress("running", 1) + progress("running", 2) + progress("completed", 3)
                     + completed("completed", "completed")}};
  const auto done = node.cli(with(trigger, {"--follow"}));
  CHECK(done.code == 0);
  CHECK(done.err.empty());
  CHECK(done.out
        == "run r-1\n"
           "acme/a issue  running  1 pages  100 events\n"
           "acme/a issue  running  2 pages  200 events\n"
           "acme/a issue  completed  3 pages  300 events\n"
           "UNIT          STATUS     PAGES  EVENTS  SKIPPED  DEAD  ERROR\n"
           "acme/a issue  completed  3      300     0        0     \n"
           "completed  1 of 1 units, 300 events, 3 pages\n");
}

TEST_CASE("follow: 1 when a unit did not succeed, and the whole run with --json (B2)") {
  telling_node node{{progress("failed", 1) + completed("partial", "failed")}};
  CHECK(node.cli(with(trigger, {"--follow"})).code == 1);
  const auto json = node.cli(with(trigger, {"--follow", "--json"}));
  CHECK(json.code == 1);
  CHECK(json.out
        == R"({"runId":"r-1","whole":true})"
           "\n");
}

TEST_CASE("follow: it goes on when the stream breaks, and says nothing twice (B2)") {
  telling_node node{{progress("running", 1), progress("running", 1) + progress("running", 2),
                     progress("completed", 3) + completed("completed", "completed")}};
  const auto done = node.cli(with(trigger, {"--follow"}));
  CHECK(done.code == 0);
  CHECK(has(done.out, "the node does not answer, trying again\n"));
  const auto line = std::string{"acme/a issue  running  1 pages"};
  CHECK(done.out.find(line) == done.out.rfind(line));
  CHECK(has(done.out, "completed  1 of 1 units"));
}

TEST_CASE("cli: trigger says what was asked, retry names its unit (B2, B10)") {
  telling_node node{{""}};
  auto done = node.cli(with(trigger, {"--depth", "90", "--entity", "issue", "--entity", "release",
                                      "--on-conflict", "merge", "--key", "k"}));
  CHECK(done.code == 0);
  CHECK(has(done.out, "run          r-1\n"));
  CHECK(node.body
        == R"({"installationId":"i-1","provider":"github","orgId":"o-1","depth":90,)"
           R"("entityTypes":["issue","release"],"onConflict":"merge","idempotencyKey":"k"})");
  done = node.cli({"retry", "r-1", "7/8~issue", "--json"});
  CHECK(done.code == 0);
  CHECK(node.target == "/runs/r-1/units/7%2F8~issue/retry");
  done = node.cli({"cancel", "--installation", "i-1"});
  CHECK(node.body == R"({"installationId":"i-1"})");
  CHECK(node.cli({"cancel"}).code == 2);
  CHECK(node.cli({"trigger", "--installation", "i-1"}).code == 2);
}
