#include "base/redact.hpp"
#include "connectors/catalog.hpp"
#include "sample.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace sluice;
using namespace std::chrono_literals;
using namespace sample;

namespace {

const connector_catalog all = built_in_connectors();

struct unit {
  const connector* from;
  unit_scope scope;
};

std::vector<unit> units() {
  return {{all.find("github"), github_scope("pull_request")},
          {all.find("github"), github_scope("issue")},
          {all.find("github"), github_scope("release")},
          {all.find("vercel"), vercel_scope()}};
}

const std::string html = "<!DOCTYPE html><html><head><title>Unicorn!</title></head></html>";

std::string github_problem(const std::string& entity, const std::string& item) {
  return problem(*all.find("github"), github_scope(entity), answer(200, "[" + item + "]"));
}

std::string vercel_problem(const std::string& body) {
  return problem(*all.find("vercel"), vercel_scope(), answer(200, body));
}

} // namespace

TEST_CASE("catalog: finds connectors by name") {
  CHECK(all.providers() == std::vector<std::string>{"github", "vercel"});
  CHECK(all.find("gitlab") == nullptr);
  for (const auto& name : all.providers()) {
    const auto* c = all.find(name);
    CHECK(c->provider() == name);
    CHECK(c->default_base_url().starts_with("https://"));
    for (const auto& entity : c->entities())
      CHECK_FALSE(c->scopes(entity).empty());
  }
}

TEST_CASE("broken pages: the error names URL, status and first bytes, no token (B28)") {
  keep_secret("sEcReTtOkEn99");
  for (const auto& u : units()) {
    const auto text =
      problem(*u.from, u.scope,
              answer(200, html + " sEcReTtOkEn99 Bearer abcdef",
                     {{.name = "X-GitHub-Request-Id", .value = "77:AA"}},
                     "https://api.github.com/repos/o/r/pulls?access_token=zzz&page=3"));
    INFO(text);
    CHECK(text.starts_with("not JSON: "));
    CHECK(text.find("GET https://api.github.com/repos/o/r/pulls: 200: \"<!DOCTYPE html>")
          != std::string::npos);
    CHECK(text.ends_with("(request \"77:AA\")"));
    for (const char* hidden : {"sEcReTtOkEn99", "zzz", "abcdef"})
      CHECK(text.find(hidden) == std::string::npos);
  }
}

TEST_CASE("broken pages: what is no page is an error for every list (B28)") {
  for (const auto& u : units()) {
    for (const auto& body : {std::string{},
                             std::string{" \n"},
                             html,
                             std::string{"null"},
                             std::string{"42"},
                             std::string{"\"x\""},
                             std::string{"{}"},
                             std::string{R"({"message":"Server Error"})"},
                             std::string{"[null]"},
                             std::string{"[[]]"},
                             std::string{"[{}]"},
                             std::string{"[{\"a\":1}"},
                             std::string{R"({"deployments":[null],"pagination":{}})"},
                             std::string{R"({"deployments":[{}],"pagination":{"next":null}})"},
                             std::string{"\0\0\0\0", 4},
                             std::string{"\x1f\x8b\x08\x00", 4},
                             std::string(1'000'000, '['),
                             std::string(1'000'000, ' '),
                             std::string(1'000'000, '\xff'),
                             html + std::string(1'000'000, 'x')}) {
      auto page = u.from->parse(u.scope, "/first", answer(200, body));
      REQUIRE_FALSE(page);
      CHECK(code_of(page.error()) == errc::bad_input);
      // Short enough for a log, however long the body is.
      CHECK(detail_of(page.error()).size() < 1000);
    }
  }
}

TEST_CASE("broken pages: null and wrong types in GitHub's fields are named (B28)") {
  CHECK(github_problem("pull_request", R"({"number":null,"updated_at":"2026-01-01T00:00:00Z"})")
          .starts_with("item 0: 'number' should be a whole number, is null; "));
  CHECK(github_problem("issue", R"({"number":"7","updated_at":"2026-01-01T00:00:00Z"})")
          .starts_with("item 0: 'number' should be a whole number, is a string; "));
  CHECK(github_problem("issue", R"({"number":7.5,"updated_at":"2026-01-01T00:00:00Z"})")
          .starts_with("item 0: 'number' should be a whole number, is a number; "));
  CHECK(github_problem("issue", issue(1, now) + R"(,{"number":7})")
          .starts_with("item 1: 'updated_at' should be a time, is nothing; "));
  CHECK(github_problem("pull_request", R"({"number":7,"updated_at":"yesterday"})")
          .starts_with("item 0: 'updated_at' should be a time, is a string; "));
  CHECK(github_problem("release", R"({"id":7,"published_at":1234})")
          .starts_with("item 0: 'published_at' should be a time, is a number; "));
  CHECK(github_problem("release", R"({"id":[],"published_at":null})")
          .starts_with("item 0: 'id' should be a whole number, is an array; "));
  CHECK(github_problem("release", R"({"id":123456789012345678901234567890})")
          .starts_with("item 0: 'id' should be a whole number, is a number; "));
}

TEST_CASE("broken pages: null and wrong types in Vercel's fields are named (B28)") {
  const auto list = [](const std::string& item) { return deployments({item}, "null"); };
  CHECK(vercel_problem(list(R"({"uid":null,"created":1})"))
          .starts_with("item 0: 'uid' should be an id; "));
  CHECK(vercel_problem(list(R"({"uid":"a b","created":1})"))
          .starts_with("item 0: 'uid' should be an id; "));
  for (const char* created : {"null", "-1", "1.5", "\"1\"", "99999999999999999999", "{}"})
    CHECK(vercel_problem(list(R"({"uid":"a","created":)" + std::string{created} + "}"))
            .starts_with("item 0: 'created' should be a time in milliseconds; "));
  for (const char* next : {"-1", "1.5", "true", "{}", "\"x\"", "99999999999999999999", "1e400"})
    CHECK(vercel_problem(deployments({}, next)).starts_with("'pagination' should have a 'next'"));
  for (const char* whole : {"null", "[]", "5"})
    CHECK(vercel_problem(R"({"deployments":[],"pagination":)" + std::string{whole} + "}")
            .starts_with("'pagination' should have a 'next'"));
  CHECK(vercel_problem(R"({"deployments":[]})").starts_with("'pagination' should have a 'next'"));
}

TEST_CASE("broken pages: a page cut at any byte is never taken (B28)") {
  const std::string github_body = array({issue(1, now), issue(2, now)});
  for (std::size_t n = 0; n < github_body.size(); ++n)
    CHECK_FALSE(all.find("github")->parse(github_scope("issue"), "/first",
                                          answer(200, github_body.substr(0, n))));
  const std::string vercel_body = deployments({deployment("a", to_millis(now))}, "null");
  for (std::size_t n = 0; n < vercel_body.size(); ++n)
    CHECK_FALSE(
      all.find("vercel")->parse(vercel_scope(), "/first", answer(200, vercel_body.substr(0, n))));
}

TEST_CASE("broken pages: one byte changed anywhere never crashes anything (B28)") {
  rc::check([] {
    const auto u = *rc::gen::elementOf(units());
    auto body = u.scope.entity == "deployment"
                  ? deployments({deployment("a", to_millis(now))}, "null")
                  : array({issue(1, now), issue(2, now)});
    const auto changes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < changes; ++i)
      body[*rc::gen::inRange<std::size_t>(0, body.size())] = *rc::gen::arbitrary<char>();
    const auto status = *rc::gen::element(200, 204, 403, 404, 422, 429, 500);
    const auto r = answer(status, body);
    (void)u.from->judge(r, now);
    const auto page = u.from->parse(u.scope, "/first", r);
    if (!page) return;
    for (const auto& item : page->items) {
      std::string out;
      u.from->write_payload(out, u.scope, item);
      RC_ASSERT(out.find(item.raw) != std::string::npos);
    }
  });
}
