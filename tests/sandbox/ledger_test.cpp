#include "tests/sandbox/visitor.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace sluice::test;

namespace {

const std::string repo = "/github/repositories/100100001/";
const std::string all_pulls = repo + "pulls?state=all&sort=updated&direction=desc&per_page=10";

std::string id_of(const std::string& item) {
  return "backfill-conn-1-100100001-pr-" + std::to_string(number_of(item, "number"));
}

/// A whole backfill of one list, as it should be.
std::vector<std::string> backfill(visitor& v) {
  v.sign_in("conn-1");
  auto items = read_all(v, all_pulls);
  for (const auto& item : items)
    CHECK(v.deliver(id_of(item), "pull_request", item).status == 202);
  return items;
}

} // namespace

TEST_CASE("ledger: a backfill as it should be misses and doubles nothing") {
  visitor v;
  backfill(v);
  CHECK(v.ledger("expected") == 25);
  CHECK(v.ledger("served") == 25);
  CHECK(v.ledger("delivered") == 25);
  CHECK(v.ledger("distinct") == 25);
  for (const auto* field : {"missing", "duplicates", "corrupted", "unknown", "poisoned"})
    CHECK(v.ledger(field) == 0);
}

TEST_CASE("ledger: what was not delivered is missing, by name") {
  visitor v;
  v.sign_in("conn-1");
  const auto items = read_all(v, all_pulls);
  for (std::size_t i = 1; i < items.size(); ++i)
    (void)v.deliver(id_of(items[i]), "pull_request", items[i]);
  CHECK(v.ledger("missing") == 1);
  CHECK(v.get("/ledger").body.find("\"missing_ids\":[\"" + id_of(items[0]) + "\"]")
        != std::string::npos);
}

TEST_CASE("ledger: a page that was never fetched is missing too") {
  visitor v;
  v.sign_in("conn-1");
  for (const auto& item : items_of(v.get(all_pulls).body))
    (void)v.deliver(id_of(item), "pull_request", item);
  CHECK(v.ledger("served") == 10);
  CHECK(v.ledger("missing") == 15);
}

TEST_CASE("ledger: an event that comes again is a duplicate") {
  visitor v;
  const auto items = backfill(v);
  (void)v.deliver(id_of(items[3]), "pull_request", items[3]);
  (void)v.deliver(id_of(items[3]), "pull_request", items[3]);
  CHECK(v.ledger("duplicates") == 2);
  CHECK(v.ledger("distinct") == 25);
  CHECK(v.ledger("missing") == 0);
}

TEST_CASE("ledger: one other byte is a corruption, of the same length or not (B26)") {
  visitor v;
  v.sign_in("conn-1");
  const auto items = read_all(v, all_pulls);
  auto changed = items[0];
  SECTION("a letter") {
    changed[changed.find("\"state\":\"") + 9] = 'X';
  }
  SECTION("a blank more") {
    changed.insert(changed.size() - 1, " ");
  }
  SECTION("a field less") {
    changed.replace(changed.find("\"locked\":false,"), 15, "");
  }
  SECTION("another item") {
    changed = items[1];
  }
  SECTION("the end gone") {
    changed = "{}";
  }
  CHECK(v.deliver(id_of(items[0]), "pull_request", changed).status == 202);
  CHECK(v.ledger("corrupted") == 1);
  CHECK(v.deliver(id_of(items[2]), "pull_request", items[2]).status == 202);
  CHECK(v.ledger("corrupted") == 1);
}

TEST_CASE("ledger: white space around an item is none of its bytes") {
  visitor v;
  v.sign_in("conn-1");
  const auto items = read_all(v, all_pulls);
  (void)v.deliver(id_of(items[0]), "pull_request", " \n" + items[0] + "\t ");
  CHECK(v.ledger("corrupted") == 0);
}

TEST_CASE("ledger: what was never served is unknown") {
  visitor v;
  (void)v.deliver("backfill-conn-1-100100001-pr-1", "pull_request", "{}");
  CHECK(v.ledger("unknown") == 1);
  CHECK(v.ledger("corrupted") == 1);
}

TEST_CASE("ledger: the window begins where the query or a request says") {
  visitor v;
  v.sign_in("conn-1");
  const auto items = read_all(v, all_pulls);
  const auto edge = word_of(items[9], "updated_at");
  // The item at the edge itself may come or not.
  CHECK(v.ledger("expected", "?since=" + edge) == 9);
  CHECK(v.ledger("expected") == 25);
  (void)v.get(repo + "issues?state=all&since=" + edge);
  CHECK(v.ledger("expected") < 25);
  CHECK(v.get("/ledger?since=yesterday").status == 400);
}

TEST_CASE("ledger: its scope is what was fetched, unless it is told to expect more") {
  visitor v;
  CHECK(v.ledger("expected") == 0);
  (void)v.get("/gateway/connections/conn-1");
  CHECK(v.ledger("expected") == 0);
  // Two repositories of 25 pull requests, 12 issues and 10 releases that are no drafts.
  CHECK(v.ledger("expected", "?scope=connections") == 2 * 47);
  CHECK(v.ledger("expected", "?scope=all") == 4 * 47 + 25);
  CHECK(v.ledger("lists_untouched") == 6);
  backfill(v);
  CHECK(v.ledger("expected") == 25);
  CHECK(v.ledger("lists_untouched") == 5);
  CHECK(v.get("/ledger?scope=some").status == 400);
}

TEST_CASE("ledger: pages are counted, again and in the order of their first readers (B11, B22)") {
  visitor v;
  v.sign_in("conn-2");
  (void)v.get("/github/repos/acme-2/api-1/releases");
  v.sign_in("conn-1");
  const auto first = v.get(all_pulls);
  (void)v.get(link_of(first, "next"));
  (void)v.get(all_pulls);
  const auto body = v.get("/ledger?detail=1").body;
  CHECK(body.find(R"("page_fetches":{"total":4,"distinct":3,"repeated":1)") != std::string::npos);
  CHECK(body.find(R"("by_connection":{"conn-1":3,"conn-2":1})") != std::string::npos);
  CHECK(body.find(R"("firstFetchOrder":["conn-2","conn-1"])") != std::string::npos);
  CHECK(body.find(R"("entity":"pull_request","total":3,"distinct":2,"repeated":1)")
        != std::string::npos);
}

TEST_CASE("ledger: an item that changed under the reader counts in either version (B25)") {
  auto o = small_world();
  o.faults.shift_every = 1;
  visitor v{o};
  v.pass(std::chrono::hours{1});
  v.sign_in("conn-1");
  const auto first = items_of(v.get(all_pulls).body);
  (void)v.get(all_pulls);
  const auto again = items_of(v.get(all_pulls).body);
  CHECK(first != again);
  CHECK(v.ledger("moves") == 3);
  for (const auto& item : first)
    (void)v.deliver(id_of(item), "pull_request", item);
  for (const auto& item : again)
    (void)v.deliver(id_of(item), "pull_request", item);
  CHECK(v.ledger("corrupted") == 0);
  CHECK(v.ledger("unknown") == 0);
  // A new pull request was on the page, so it is expected beside the 25 of the start.
  CHECK(v.ledger("expected") == 26);
}

TEST_CASE("ledger: a mark counts from there on, a reset forgets") {
  visitor v;
  const auto items = backfill(v);
  CHECK(v.ask("POST", "/ledger/mark").status == 200);
  v.pass(std::chrono::milliseconds{70});
  (void)v.deliver(id_of(items[0]), "pull_request", items[0]);
  const auto body = v.get("/ledger").body;
  const auto at = std::to_string(to_millis(v.now()));
  CHECK(body.find(R"("delivered":1,"duplicates":1,"firstDeliveryAt":)" + at) != std::string::npos);
  CHECK(v.ask("POST", "/ledger/reset").status == 200);
  for (const auto* field : {"expected", "served", "delivered", "missing", "tokens_issued"})
    CHECK(v.ledger(field) == 0);
}
