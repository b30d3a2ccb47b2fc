#include "base/json.hpp"
#include "connectors/github.hpp"
#include "sample.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;
using namespace sample;

namespace {

const github_connector github;

std::string first(const unit_scope& scope) {
  auto cursor = github.first_cursor(scope);
  return cursor ? *cursor : detail_of(cursor.error());
}

std::string url_of(const unit_scope& scope, const std::string& cursor) {
  auto made = github.request(scope, cursor);
  return made ? made->url : detail_of(made.error());
}

std::string release(unsigned id, const std::string& published, bool draft = false) {
  return R"({"id":)" + std::to_string(id) + R"(,"tag_name":"v1","draft":)"
         + (draft ? "true" : "false") + R"(,"published_at":)" + published + "}";
}

} // namespace

TEST_CASE("github: entity types, their order and their bucket (B23, B25)") {
  CHECK(github.entities() == std::vector<std::string>{"pull_request", "issue", "release"});
  CHECK(github.order("pull_request") == list_order::by_update);
  CHECK(github.order("issue") == list_order::by_creation);
  CHECK(github.order("release") == list_order::by_creation);
  CHECK(github.rate_bucket("issue") == "core");
}

TEST_CASE("github: one of several scopes is enough (B4)") {
  CHECK(has_scope(github, "pull_request", {"metadata:read", "pull_requests:read"}));
  CHECK(has_scope(github, "issue", {"repo"}));
  CHECK_FALSE(has_scope(github, "release", {"issues:read"}));
  CHECK_FALSE(has_scope(github, "release", {}));
}

TEST_CASE("github: the first page of each list asks for 100 (B23)") {
  CHECK(first(github_scope("pull_request"))
        == "/repos/octo/hello/pulls?state=all&sort=updated&direction=desc&per_page=100");
  // The window is closed on its low side, `since` of GitHub may not be: one second earlier.
  CHECK(first(github_scope("issue"))
        == "/repos/octo/hello/issues?state=all&sort=created&direction=asc&per_page=100"
           "&since=2026-10-18T23:59:59Z");
  CHECK(first(github_scope("release")) == "/repos/octo/hello/releases?per_page=100");
  CHECK(first(github_scope("star")) == "github has no entity type 'star'");
}

TEST_CASE("github: a repository without a name is asked for by its id (B23)") {
  auto scope = github_scope("release");
  for (const char* no_name : {"", "hello", "/hello", "octo/", "a/b/c", "../x", "x/.."}) {
    scope.resource_name = no_name;
    CHECK(first(scope) == "/repositories/4242/releases?per_page=100");
  }
  scope.resource_id = "not a number";
  CHECK(first(scope).find("needs a name") != std::string::npos);
  scope.resource_name = "oc to/he?llo";
  CHECK(first(scope) == "/repos/oc%20to/he%3Fllo/releases?per_page=100");
}

TEST_CASE("github: requests name version, media type and agent, and follow renames (B23)") {
  const auto made = github.request(github_scope("release"), "/repos/a/b/releases");
  REQUIRE(made);
  CHECK(made->method == "GET");
  CHECK(made->url == "https://api.github.com/repos/a/b/releases");
  CHECK(made->redirects_max == 3);
  std::vector<std::string> headers;
  for (const auto& h : made->headers) {
    headers.push_back(h.name + ": " + h.value);
    CHECK_FALSE(h.credential);
  }
  CHECK(headers
        == std::vector<std::string>{"Accept: application/vnd.github+json",
                                    "X-GitHub-Api-Version: 2022-11-28", "User-Agent: sluice"});
}

TEST_CASE("github: the token is a credential header and nothing else (B12, S12)") {
  auto made = *github.request(github_scope("release"), "/repos/a/b/releases");
  github.authorize(made, secret{"ghs_abc"});
  CHECK(made.headers.back().name == "Authorization");
  CHECK(made.headers.back().value == "Bearer ghs_abc");
  CHECK(made.headers.back().credential);
  CHECK(made.url.find("ghs_") == std::string::npos);
}

TEST_CASE("github: an Enterprise Server lies below a path (B23)") {
  auto scope = github_scope("release");
  for (const char* base : {"https://ghe.example/api/v3", "https://ghe.example/api/v3/"}) {
    scope.base_url = base;
    CHECK(url_of(scope, first(scope))
          == "https://ghe.example/api/v3/repos/octo/hello/releases?per_page=100");
    const auto page =
      parsed(github, scope,
             answer(200, "[]", {link("https://ghe.example/api/v3/repositories/1/releases?page=2")},
                    "https://ghe.example/api/v3/repos/octo/hello/releases?per_page=100"));
    CHECK(page.next == "/repositories/1/releases?page=2");
  }
  scope.base_url.clear();
  CHECK(url_of(scope, "/x") == "https://api.github.com/x");
}

TEST_CASE("github: pull requests have id, time and event type (B19, B23)") {
  const auto scope = github_scope("pull_request");
  const auto body = array({issue(7, now - 1h), issue(8, now - 2h, R"(,"state":"closed")")});
  const auto r = answer(200, body);
  const auto page = parsed(github, scope, r);
  REQUIRE(page.items.size() == 2);
  const auto& item = page.items[0];
  CHECK(item.id == "backfill-inst_1-4242-pr-7");
  CHECK(item.key == "7");
  CHECK(item.time == now - 1h);
  CHECK(item.event_type == "pull_request");
  CHECK(item.action == "opened");
  CHECK(page.items[1].action == "closed");
  CHECK(item.wanted);
  CHECK(item.raw == issue(7, now - 1h));
  CHECK_FALSE(page.next);
  CHECK_FALSE(page.window_ended);
  CHECK(page.why_empty.empty());
}

TEST_CASE("github: pull requests end at the first one older than the window (B23)") {
  const auto scope = github_scope("pull_request");
  const auto more = link("https://api.github.com/repositories/4242/pulls?page=2");
  const auto at_edge = answer(200, array({issue(3, now), issue(2, scope.since)}), {more});
  auto page = parsed(github, scope, at_edge);
  // Closed on the low side: the item at `since` is in.
  CHECK(wanted_keys(page) == std::vector<std::string>{"3", "2"});
  CHECK(page.next == "/repositories/4242/pulls?page=2");
  CHECK_FALSE(page.window_ended);

  const auto beyond =
    answer(200, array({issue(3, now), issue(2, scope.since - 1s), issue(1, scope.since)}), {more});
  page = parsed(github, scope, beyond);
  CHECK(page.window_ended);
  CHECK_FALSE(page.next);
  CHECK(page.items.size() == 3);
  CHECK(wanted_keys(page) == std::vector<std::string>{"3", "1"});
  CHECK(page.items[1].why_not == "outside the window");
}

TEST_CASE("github: pull requests in the list of issues are not issues (B23)") {
  const auto scope = github_scope("issue");
  const auto r =
    answer(200, array({issue(1, now), issue(2, now, R"(,"pull_request":{"url":"x"})"),
                       issue(3, now, R"(,"pull_request":null)"), issue(4, scope.since - 1ms)}));
  const auto page = parsed(github, scope, r);
  CHECK(page.items.size() == 4);
  CHECK(page.items[0].id == "backfill-inst_1-4242-issue-1");
  CHECK(page.items[0].event_type == "issues");
  CHECK(wanted_keys(page) == std::vector<std::string>{"1", "3"});
  CHECK(page.items[1].why_not == "a pull request");
  // The list is by creation: an old item says nothing about those behind it.
  CHECK_FALSE(page.window_ended);
}

TEST_CASE("github: releases count by publication, drafts are filtered (B23)") {
  const auto scope = github_scope("release");
  const auto r =
    answer(200,
           array({release(11, quoted_time(now)), release(12, "null", true), release(13, "null"),
                  release(14, quoted_time(now), true), release(15, quoted_time(scope.since - 1s)),
                  release(16, quoted_time(scope.since))}),
           {link("https://api.github.com/repositories/4242/releases?page=2")});
  const auto page = parsed(github, scope, r);
  CHECK(wanted_keys(page) == std::vector<std::string>{"11", "16"});
  CHECK(page.items[0].id == "backfill-inst_1-4242-release-11");
  CHECK(page.items[0].action == "published");
  CHECK(page.items[1].why_not == "a draft");
  // Created long ago, published yesterday: only the end of the list ends it.
  CHECK(page.next);
}

TEST_CASE("github: a page without wanted items says why (B9, B23)") {
  CHECK(parsed(github, github_scope("release"), answer(200, "[]")).why_empty
        == "the list is empty");
  CHECK(parsed(github, github_scope("release"), answer(204, "")).why_empty == "the list is empty");
  const auto scope = github_scope("issue");
  const auto page = parsed(
    github, scope,
    answer(200, array({issue(1, now, R"(,"pull_request":{})"), issue(2, scope.since - 1s)})));
  CHECK(page.why_empty == "all 2 items are filtered: 1 a pull request, 1 outside the window");
}

TEST_CASE("github: a payload is GitHub's webhook, the item byte for byte (B26)") {
  const std::string item =
    "{\"number\": 5,\"big\":123456789012345678901234567890,\"updated_at\" "
    ":\"2026-11-17T00:00:00Z\",\"t\":\"\\u00e9 é \\ud83d\\ude00\", \"f\":1.50}";
  const auto r = answer(200, "[ " + item + " ]");
  const auto scope = github_scope("pull_request");
  const auto page = parsed(github, scope, r);
  CHECK(payload(github, scope, page.items[0])
        == R"({"action":"opened","number":5,"pull_request":)" + item
             + R"(,"repository":{"id":4242,"name":"hello","full_name":"octo/hello",)"
             + R"("owner":{"login":"octo"}}})");
}

TEST_CASE("github: names that are not ours are escaped in a payload (B26)") {
  auto scope = github_scope("issue");
  scope.resource_name = "oc\"to/he\\llo";
  scope.resource_id = "id\n";
  page_item item;
  item.raw = "{}";
  item.action = "opened";
  const auto text = payload(github, scope, item);
  const auto read = json::document::parse(text);
  REQUIRE(read);
  const auto repository = read->root().find("repository");
  CHECK(*repository->find("full_name")->str() == scope.resource_name);
  CHECK(*repository->find("id")->str() == scope.resource_id);
  CHECK(read->root().find("issue"));
  CHECK_FALSE(read->root().find("number"));
}
