#include "tests/sandbox/visitor.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace sluice;
using namespace sluice::test;

namespace {

struct deployments {
  explicit deployments(const sandbox::options& o = small_world()) : v{o} {
    v.sign_in("vconn-1");
    path = "/vercel/v6/deployments?projectId="
           + word_of(v.get("/gateway/connections/vconn-1").body, "providerResourceId");
  }

  /// Reads all pages, each from `next + more` on; the distinct uids.
  std::set<std::string> read(std::int64_t more, const std::string& limit) {
    std::set<std::string> uids;
    std::string until;
    for (int pages = 0; pages < 50; ++pages) {
      const auto page = v.get(path + "&limit=" + limit + until);
      for (const auto& item : items_of(page.body))
        uids.insert(word_of(item, "uid"));
      if (page.body.find("\"next\":null") != std::string::npos) break;
      until = "&until=" + std::to_string(number_of(page.body, "next") + more);
    }
    return uids;
  }

  visitor v;
  std::string path;
};

} // namespace

TEST_CASE("vercel: ties on the edge of a page are lost by until = next, not by next + 1 (B24)") {
  deployments d;
  // Pages of 6 end with the 20th of 25, which is as old as the 19th.
  CHECK(d.read(1, "6").size() == 25);
  CHECK(d.read(0, "6").size() == 24);
}

TEST_CASE("vercel: since and until are milliseconds, closed below and open above") {
  deployments d;
  const auto all = items_of(d.v.get(d.path + "&limit=100").body);
  REQUIRE(all.size() == 25);
  const auto newest = std::to_string(number_of(all[0], "created"));
  CHECK(items_of(d.v.get(d.path + "&since=" + newest).body).size() == 1);
  CHECK(items_of(d.v.get(d.path + "&limit=100&until=" + newest).body).size() == 24);
  CHECK(items_of(d.v.get(d.path).body).size() == 20);
}

TEST_CASE("vercel: over the limit it answers 429 and says until when") {
  auto o = small_world();
  o.rate_limit = 1;
  deployments d{o};
  CHECK(header_of(d.v.get(d.path), "X-RateLimit-Remaining") == "0");
  const auto refused = d.v.get(d.path);
  CHECK(refused.status == 429);
  CHECK(refused.body.find(R"("code":"rate_limited")") != std::string::npos);
  CHECK(header_of(refused, "Retry-After") == "3600");
  CHECK(d.v.ledger("rate_limited") == 1);
}

TEST_CASE("vercel: tokens, teams and projects are checked") {
  deployments d;
  const auto team = word_of(d.v.get("/gateway/connections/vconn-1").body, "externalId");
  CHECK(d.v.get(d.path + "&teamId=" + team).status == 200);
  CHECK(d.v.get(d.path + "&teamId=team_x").status == 403);
  CHECK(d.v.get("/vercel/v7/deployments?projectId=prj_x").status == 404);
  CHECK(d.v.get("/vercel/v9/projects").status == 404);
  d.v.token = "vca_made-up";
  CHECK(d.v.get(d.path).status == 401);
}
