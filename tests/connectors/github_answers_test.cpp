#include "connectors/github.hpp"
#include "sample.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;
using namespace sample;

namespace {

const github_connector github;

std::string message(const std::string& text) {
  return R"({"message":")" + text + R"(","documentation_url":"https://docs.github.com/rest"})";
}

answer_verdict judged(int status, const std::string& body = "",
                      std::vector<http_header> headers = {}) {
  return github.judge(answer(status, body, std::move(headers)), now);
}

std::vector<http_header> remaining(const std::string& count) {
  return {{.name = "x-ratelimit-limit", .value = "5000"},
          {.name = "x-ratelimit-remaining", .value = count},
          {.name = "x-ratelimit-reset", .value = std::to_string(to_millis(now) / 1000 + 600)}};
}

answer_verdict failed(void (*how)(http_response&)) {
  http_response r;
  r.error = "GET https://api.github.com/x: it failed";
  how(r);
  return github.judge(r, now);
}

} // namespace

TEST_CASE("github: 200 and 204 are pages (B23)") {
  for (int status : {200, 204}) {
    const auto v = judged(status, "", remaining("4999"));
    CHECK(v.kind == answer_kind::page);
    CHECK(v.detail.empty());
    CHECK(v.rate.kind == rate_kind::none);
  }
}

TEST_CASE("github: a page that leaves little of the budget still is a page (B14)") {
  const auto v = judged(200, "[]", remaining("499"));
  CHECK(v.kind == answer_kind::page);
  CHECK(v.rate.kind == rate_kind::low_budget);
  CHECK(v.rate.wait_until == now + 600s);
}

TEST_CASE("github: 401 asks for a fresh token (B12)") {
  const auto v = judged(401, message("Bad credentials"));
  CHECK(v.kind == answer_kind::unauthorized);
  CHECK(v.detail == "GET https://api.github.com/repos/octo/hello/pulls: 401: \"Bad credentials\"");
  CHECK(judged(401, "").kind == answer_kind::unauthorized);
}

TEST_CASE("github: 403 is told apart: primary, secondary, forbidden (B23)") {
  auto v = judged(403, message("API rate limit exceeded for installation ID 1."), remaining("0"));
  CHECK(v.kind == answer_kind::limited);
  CHECK(v.rate.kind == rate_kind::primary_limit);
  CHECK(v.rate.wait_until == now + 601s);

  const auto secondary = message("You have exceeded a secondary rate limit.");
  v = judged(403, secondary, remaining("4000"));
  CHECK(v.kind == answer_kind::limited);
  CHECK(v.rate.kind == rate_kind::secondary_limit);
  CHECK(v.rate.wait_until == now + 60s);
  v = judged(403, secondary, {{.name = "Retry-After", .value = "7"}});
  CHECK(v.rate.wait_until == now + 7s);

  auto headers = remaining("4000");
  headers.push_back({.name = "X-Accepted-GitHub-Permissions", .value = "pull_requests=read"});
  v = judged(403, message("Resource not accessible by integration"), headers);
  CHECK(v.kind == answer_kind::forbidden);
  CHECK(v.detail
        == "GET https://api.github.com/repos/octo/hello/pulls: 403: \"Resource not accessible by "
           "integration\"; it needs \"pull_requests=read\"");
  CHECK(judged(403, "<html>Request forbidden by administrative rules</html>").kind
        == answer_kind::forbidden);
}

TEST_CASE("github: 429 is a limit, with and without its wait (B23)") {
  CHECK(judged(429).kind == answer_kind::limited);
  CHECK(judged(429).rate.wait_until == now + 60s);
  CHECK(judged(429, "", {{.name = "Retry-After", .value = "3"}}).rate.wait_until == now + 3s);
  CHECK(judged(429, "", remaining("0")).rate.kind == rate_kind::primary_limit);
}

TEST_CASE("github: 404, 410 and 451 say that the resource is gone, and why (B23)") {
  for (int status : {404, 410, 451}) {
    const auto v = judged(status, message("Issues are disabled for this repo"));
    CHECK(v.kind == answer_kind::gone);
    CHECK(v.detail.ends_with(": \"Issues are disabled for this repo\""));
  }
}

TEST_CASE("github: a deep page that GitHub refuses is a wall (B23)") {
  for (const char* text :
       {"Pagination with the page parameter is not supported for large datasets, please use cursor "
        "based pagination (after/before)",
        "In order to keep the API fast for everyone, pagination is limited for this resource."})
    CHECK(judged(422, message(text)).kind == answer_kind::wall);
  CHECK(judged(422, message("Validation Failed")).kind == answer_kind::refused);
}

TEST_CASE("github: 502, 504 and time-outs are transient and worth a smaller page (B23)") {
  for (int status : {502, 504}) {
    const auto v = judged(status, "<html>502 Bad Gateway</html>");
    CHECK(v.kind == answer_kind::transient);
    CHECK(v.smaller_page);
    CHECK(v.detail.find("502 Bad Gateway") != std::string::npos);
  }
  for (int status : {500, 503, 408, 425, 599}) {
    CHECK(judged(status).kind == answer_kind::transient);
    CHECK_FALSE(judged(status).smaller_page);
  }
  CHECK(judged(503, "", {{.name = "Retry-After", .value = "9"}}).rate.wait_until == now + 9s);
  auto v = failed([](http_response& r) { r.timed_out = true; });
  CHECK(v.kind == answer_kind::transient);
  CHECK(v.smaller_page);
  CHECK(v.detail == "GET https://api.github.com/x: it failed");
  CHECK(failed([](http_response&) {}).kind == answer_kind::transient);
}

TEST_CASE("github: per_page shrinks to 25, the page goes with it (B23)") {
  const auto shrink = [](const std::string& cursor) {
    return github.smaller(cursor).value_or("-");
  };
  CHECK(shrink("/x?per_page=100") == "/x?per_page=50");
  CHECK(shrink("/x?per_page=100&page=4") == "/x?per_page=50&page=7");
  CHECK(shrink("/x?per_page=50&page=7") == "/x?per_page=25&page=13");
  CHECK(shrink("/x?per_page=25&page=13") == "-");
  CHECK(shrink("/x?after=abc%3D&per_page=100") == "/x?after=abc%3D&per_page=50");
  for (const char* odd : {"/x", "/x?per_page=", "/x?per_page=x", "/x?per_page=100&page=0",
                          "/x?per_page=100&page=x", "/x?per_page=100&page=99999999999"})
    CHECK(shrink(odd) == "-");
}

TEST_CASE("github: a page larger than we read is malformed, and worth a smaller one (B28)") {
  const auto v = failed([](http_response& r) {
    r.status = 200;
    r.too_large = true;
  });
  CHECK(v.kind == answer_kind::malformed);
  CHECK(v.smaller_page);
}

TEST_CASE("github: what we did not ask for is refused or malformed, never a page (B23)") {
  for (int status : {301, 304, 307, 400, 405, 406, 409, 415})
    CHECK(judged(status).kind == answer_kind::refused);
  for (int status : {0, 100, 201, 202, 206})
    CHECK(judged(status).kind == answer_kind::malformed);
  // The client refused a redirect to another host.
  CHECK(failed([](http_response& r) { r.status = 301; }).kind == answer_kind::refused);
}

TEST_CASE("github: details hold no token, no query and no second line (B28, S9)") {
  const auto r = answer(500, "a\nb\r\n\x01 token=abc123secret ghs_0123456789abcdef.x.y \xff",
                        {{.name = "X-GitHub-Request-Id", .value = "AB:12"}},
                        "https://u:p@api.github.com/x?access_token=s3cret");
  const auto v = github.judge(r, now);
  CHECK(v.detail.starts_with("GET https://api.github.com/x: 500: \"a b"));
  CHECK(v.detail.ends_with("(request \"AB:12\")"));
  for (const char* hidden : {"s3cret", "abc123secret", "ghs_0123", "u:p", "\n", "\xff"})
    CHECK(v.detail.find(hidden) == std::string::npos);
}

TEST_CASE("github: answer kinds have names") {
  for (auto kind : {answer_kind::page, answer_kind::unauthorized, answer_kind::limited,
                    answer_kind::gone, answer_kind::forbidden, answer_kind::transient,
                    answer_kind::malformed, answer_kind::wall, answer_kind::refused})
    CHECK(to_string(kind) != "unknown");
}
