#include "tests/sandbox/visitor.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace sluice;
using namespace sluice::test;

namespace {

const std::string pulls = "/github/repos/acme-1/api-1/pulls?state=all&sort=updated&direction=desc";

std::vector<std::string> times(const std::vector<std::string>& items, const std::string& name) {
  std::vector<std::string> found;
  for (const auto& item : items)
    found.push_back(word_of(item, name));
  return found;
}

} // namespace

TEST_CASE("github: Link leads through a list once, newest update first (B23)") {
  visitor v;
  v.sign_in("conn-1");
  const auto items = read_all(v, pulls + "&per_page=10");
  REQUIRE(items.size() == 25);
  std::set<std::int64_t> numbers;
  for (const auto& item : items)
    numbers.insert(number_of(item, "number"));
  CHECK(numbers.size() == 25);
  const auto updated = times(items, "updated_at");
  CHECK(std::ranges::is_sorted(updated, std::greater{}));
  CHECK(v.number_in(v.get("/ledger").body, "served") == 25);
}

TEST_CASE("github: links name the repository by its id, and all four directions") {
  visitor v;
  v.sign_in("conn-1");
  const auto first = v.get(pulls + "&per_page=10");
  CHECK(link_of(first, "prev").empty());
  CHECK(link_of(first, "first").empty());
  CHECK(link_of(first, "next").starts_with("/github/repositories/100100001/pulls?"));
  const auto second = v.get(link_of(first, "next"));
  CHECK(link_of(second, "prev").ends_with("page=1"));
  CHECK(link_of(second, "first").ends_with("page=1"));
  CHECK(link_of(second, "last").ends_with("page=3"));
  const auto last = v.get(link_of(second, "last"));
  CHECK(items_of(last.body).size() == 5);
  CHECK(link_of(last, "next").empty());
  CHECK(link_of(last, "last").empty());
}

TEST_CASE("github: a list of one page has no links, pages behind the last are empty") {
  visitor v;
  v.sign_in("conn-1");
  CHECK(header_of(v.get(pulls + "&per_page=25"), "Link").empty());
  CHECK(link_of(v.get(pulls + "&per_page=24"), "next").ends_with("page=2"));
  const auto beyond = v.get(pulls + "&per_page=25&page=2");
  CHECK(beyond.status == 200);
  CHECK(beyond.body == "[]");
}

TEST_CASE("github: pages have 30 items unless told, and never more than 100") {
  auto o = small_world();
  o.pulls = 150;
  visitor v{o};
  v.sign_in("conn-1");
  CHECK(items_of(v.get(pulls).body).size() == 30);
  CHECK(items_of(v.get(pulls + "&per_page=1000").body).size() == 100);
}

TEST_CASE("github: state, since and direction choose and order") {
  visitor v;
  v.sign_in("conn-1");
  const std::string base = "/github/repos/acme-1/api-1/";
  const auto all = read_all(v, base + "issues?state=all&per_page=100&sort=updated&direction=asc");
  REQUIRE(all.size() == 37); // pull requests are among them
  CHECK(std::ranges::is_sorted(times(all, "updated_at")));
  const auto marked = std::ranges::count_if(
    all, [](const auto& i) { return i.find("\"pull_request\":{") != std::string::npos; });
  CHECK(marked == 25);
  const auto open = read_all(v, base + "issues?per_page=100");
  const auto closed = read_all(v, base + "issues?state=closed&per_page=100");
  CHECK(open.size() + closed.size() == 37);
  CHECK(!open.empty());
  CHECK(!closed.empty());
  const auto since = word_of(all[20], "updated_at");
  const auto late = read_all(v, base + "issues?state=all&per_page=100&since=" + since);
  const auto expected =
    std::ranges::count_if(all, [&](const auto& i) { return word_of(i, "updated_at") >= since; });
  CHECK(static_cast<std::ptrdiff_t>(late.size()) == expected);
}

TEST_CASE("github: every tenth release is a draft without a date of publication") {
  visitor v;
  v.sign_in("conn-1");
  const auto items = read_all(v, "/github/repos/acme-1/api-1/releases?per_page=100");
  REQUIRE(items.size() == 11);
  const auto drafts = std::ranges::count_if(items, [](const auto& i) {
    return i.find("\"draft\":true") != std::string::npos
           && i.find("\"published_at\":null") != std::string::npos;
  });
  CHECK(drafts == 1);
  CHECK(v.ledger("expected") == 10);
}

TEST_CASE("github: the budget goes down, then 403 or 429 until the reset (B14)") {
  auto o = small_world();
  o.rate_limit = 3;
  o.rate_window = std::chrono::seconds{60};
  visitor v{o};
  v.sign_in("conn-1");
  for (const auto* left : {"2", "1", "0"}) {
    const auto r = v.get(pulls);
    CHECK(r.status == 200);
    CHECK(header_of(r, "X-RateLimit-Limit") == "3");
    CHECK(header_of(r, "X-RateLimit-Remaining") == left);
  }
  const auto refused = v.get(pulls);
  CHECK((refused.status == 403 || refused.status == 429));
  CHECK(header_of(refused, "X-RateLimit-Remaining") == "0");
  CHECK(header_of(refused, "Retry-After").empty());
  CHECK(refused.body.find("API rate limit exceeded") != std::string::npos);
  CHECK(std::stoll(header_of(refused, "X-RateLimit-Reset")) == to_millis(v.now()) / 1000 + 60);
  CHECK(v.ledger("rate_limited") == 1);
  CHECK(v.ledger("rate_exceeded") == 1);

  SECTION("a new token has no new budget, another connection has its own") {
    v.sign_in("conn-1");
    CHECK(v.get(pulls).status != 200);
    v.sign_in("conn-2");
    CHECK(v.get("/github/repos/acme-2/api-1/pulls").status == 200);
  }
  SECTION("it is full again after the reset") {
    v.pass(std::chrono::seconds{60});
    CHECK(header_of(v.get(pulls), "X-RateLimit-Remaining") == "2");
  }
}

TEST_CASE("github: the most requests in any window are counted, wherever it begins (B14)") {
  auto o = small_world();
  o.rate_limit = 4;
  o.rate_window = std::chrono::seconds{60};
  visitor v{o};
  v.sign_in("conn-1");
  (void)v.get(pulls);
  v.pass(std::chrono::seconds{59});
  for (int i = 0; i < 3; ++i)
    (void)v.get(pulls);
  v.pass(std::chrono::seconds{1});
  for (int i = 0; i < 4; ++i)
    CHECK(v.get(pulls).status == 200);
  CHECK(v.ledger("rate_exceeded") == 0);
  CHECK(v.ledger("rate_window_max") == 7); // the last three of one window and four of the next
}

TEST_CASE("github: a token ends after its time, and none can be made up (B12)") {
  auto o = small_world();
  o.token_ttl = std::chrono::seconds{10};
  visitor v{o};
  v.sign_in("conn-1");
  v.pass(std::chrono::milliseconds{9'999});
  CHECK(v.get(pulls).status == 200);
  v.pass(std::chrono::milliseconds{1});
  const auto expired = v.get(pulls);
  CHECK(expired.status == 401);
  CHECK(expired.body.find("Bad credentials") != std::string::npos);
  v.sign_in("conn-1");
  CHECK(v.get(pulls).status == 200);
  v.token.back() = v.token.back() == '0' ? '1' : '0';
  CHECK(v.get(pulls).status == 401);
  v.token.clear();
  CHECK(v.get(pulls).status == 401);
  v.sign_in("vconn-1");
  CHECK(v.get(pulls).status == 401);
  CHECK(v.ledger("tokens_issued") == 3);
  CHECK(v.ledger("unauthorized") == 4);
}

TEST_CASE("github: what an installation may not see is not there") {
  visitor v;
  v.sign_in("conn-1");
  for (const auto* path :
       {"/github/repos/acme-2/api-1/pulls", "/github/repos/acme-1/api-9/pulls",
        "/github/repos/acme-1/web-1/pulls", "/github/repositories/100200001/pulls",
        "/github/repositories/7/pulls", "/github/repos/acme-1/api-1/commits", "/github/user"}) {
    INFO(path);
    CHECK(v.get(path).status == 404);
  }
}

TEST_CASE("github: a renamed repository answers 301 under its old name") {
  auto o = small_world();
  o.renamed_every = 2;
  visitor v{o};
  v.sign_in("conn-1");
  const auto known = v.get("/gateway/connections/conn-1").body;
  CHECK(known.find("\"acme-1/old-2\"") != std::string::npos);
  const auto moved = v.get("/github/repos/acme-1/old-2/pulls?state=all&per_page=5");
  CHECK(moved.status == 301);
  const auto where = header_of(moved, "Location");
  CHECK(where == "http://127.0.0.1:8095/github/repositories/100100002/pulls?state=all&per_page=5");
  CHECK(v.get(where.substr(21)).status == 200);
}

TEST_CASE("github: some items hold what a careless reader would change (B26)") {
  auto o = small_world();
  o.pulls = 100;
  visitor v{o};
  v.sign_in("conn-1");
  const auto page = v.get(pulls + "&per_page=100").body;
  for (const auto* part :
       {"123456789012345678901234567890", "\\ud83d\\ude80", "\"spacing\" :  [", "1.0E+05", "Zoë"}) {
    INFO(part);
    CHECK(page.find(part) != std::string::npos);
  }
  CHECK(page.size() > 100 * 2'500);
}
