#include "app/unit_board.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

const unit_board::instant begin{1h};

std::string unit(const std::string& id, const std::string& status, int pages, int events,
                 const std::string& more = {}) {
  return R"({"unit":")" + id + R"(~issue","entityType":"issue","resourceId":")" + id
         + R"(","resourceName":"acme/)" + id + R"(","status":")" + status + R"(","pagesProcessed":)"
         + std::to_string(pages) + R"(,"eventsDispatched":)" + std::to_string(events) + more + "}";
}

std::vector<std::string> told(unit_board& board, const std::vector<std::string>& units,
                              unit_board::instant at = begin) {
  std::string list;
  for (const auto& u : units)
    list += (list.empty() ? "" : ",") + u;
  const auto parsed = json::document::parse(R"({"units":[)" + list + "]}");
  REQUIRE(parsed);
  return board.take(parsed->root(), at);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("unit board: a line per change, and none for what is the same (B2)") {
  unit_board board;
  CHECK(board.empty());
  auto lines = told(board, {unit("a", "running", 1, 1100), unit("b", "pending", 0, 0)});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "acme/a issue  running  1 pages  1,100 events");
  CHECK(told(board, {unit("a", "running", 1, 1100)}).empty());
  lines =
    told(board,
         {unit("a", "running", 2, 1200,
               R"(,"waiting":{"reason":"gate: rate limit","until":"2023-11-14T22:13:20.000Z"})")});
  REQUIRE(lines.size() == 1);
  CHECK(has(lines[0], "waits: gate: rate limit until 22:13:20"));
}

TEST_CASE("unit board: a bar shows pages, events, rate and what it waits for (B31)") {
  unit_board board;
  const auto eta = R"(,"pagesExpected":4,"eta":"2023-11-14T22:14:25.000Z")";
  told(board, {unit("a", "running", 1, 100, eta), unit("b", "running", 3, 10)});
  told(board, {unit("a", "running", 2, 200, eta)}, begin + 2s);
  auto lines = board.lines(200, 10, from_millis(1'700'000'000'000));
  REQUIRE(lines.size() == 3);
  CHECK(has(lines[0], "acme/a issue [==========>         ] 2/4 p     200 ev       50/s"));
  CHECK(has(lines[0], "ETA 1m05s"));
  // The end is not known: a mark moves with the pages, and there is no ETA.
  CHECK(has(lines[1], "acme/b issue [ =>                 ] 3 p"));
  CHECK(!has(lines[1], "ETA"));
  CHECK(lines[2] == "0 of 2 units done, 210 events, 50/s");
  told(board, {unit("a", "completed", 4, 400),
               unit("b", "failed", 3, 10, R"(,"error":{"message":"it is gone"})")});
  lines = board.lines(200, 10, never);
  CHECK(has(lines[0], "failed: it is gone"));
  CHECK(has(lines[1], "[====================] 4 p"));
  CHECK(lines[2] == "1 of 2 units done, 1 failed, 410 events, 0/s");
}

TEST_CASE("unit board: it never is higher or wider than the terminal") {
  unit_board board;
  std::vector<std::string> units;
  for (int i = 0; i < 150; ++i)
    units.push_back(unit("repo-" + std::to_string(i), i == 140 ? "running" : "completed", 1, 1));
  told(board, units);
  for (std::size_t rows : {0U, 1U, 2U, 24U}) {
    const auto lines = board.lines(40, rows, never);
    CHECK(lines.size() == rows);
  }
  const auto lines = board.lines(60, 3, never);
  CHECK(has(lines[0], "acme/repo-140"));
  CHECK(has(lines[2], "(148 more units)"));
  for (const auto& line : board.lines(30, 10, never))
    CHECK(line.size() <= 32); // `…` has three bytes
}

TEST_CASE("unit board: what a provider calls things does not steer the terminal") {
  unit_board board;
  told(board, {unit("a\\u001b[2J", "running", 1, 1)});
  for (const auto& line : board.lines(100, 5, never))
    CHECK(!has(line, "\x1b"));
  CHECK(!has(board.summary(), "\x1b"));
}

TEST_CASE("unit board: the table at the end has every unit") {
  unit_board board;
  told(board, {unit("a", "completed", 4, 4000),
               unit("b", "failed", 1, 5,
                    R"(,"counts":{"deadLettered":2,"skipped":3},"error":{"message":"no"})")});
  CHECK(board.summary()
        == "UNIT          STATUS     PAGES  EVENTS  SKIPPED  DEAD  ERROR\n"
           "acme/a issue  completed  4      4,000   0        0     \n"
           "acme/b issue  failed     1      5       3        2     no\n");
}
