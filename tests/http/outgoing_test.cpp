#include "http/outgoing.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct hop {
  std::string method = "GET";
  std::uint32_t redirects_max = 3;
  std::uint32_t redirects = 0;
  int status = 302;
  std::string location = "/next";
};

/// The URL that is followed, `taken`, or why not.
std::string after(const hop& h) {
  http_request r;
  r.method = h.method;
  r.redirects_max = h.redirects_max;
  http_response answer;
  answer.status = h.status;
  if (!h.location.empty()) answer.headers.push_back({"location", h.location});
  auto at = http::url::parse("https://api.example/a/b");
  auto next = http::after_answer(r, *at, answer, h.redirects);
  if (auto* to = std::get_if<http::url>(&next)) return to->text();
  if (auto* refused = std::get_if<http::refuse_redirect>(&next)) return refused->why;
  return "taken";
}

std::string refusal(http_request r) {
  return http::unsendable(r, http::url::parse(r.url));
}

} // namespace

TEST_CASE("outgoing: a redirect within the origin is followed (S12)") {
  for (int status : {301, 302, 303, 307, 308}) {
    CHECK(after({.status = status}) == "https://api.example/next");
  }
  CHECK(after({.method = "HEAD"}) == "https://api.example/next");
  CHECK(after({.location = "https://API.example:443/c"}) == "https://api.example/c");
  CHECK(after({.redirects = 2}) == "https://api.example/next");
}

TEST_CASE("outgoing: a redirect that nobody asked to follow is an answer") {
  CHECK(after({.redirects_max = 0}) == "taken");
  CHECK(after({.redirects_max = 0, .location = "https://evil/"}) == "taken");
  CHECK(after({.method = "POST"}) == "taken");
  CHECK(after({.method = "DELETE"}) == "taken");
  CHECK(after({.status = 200}) == "taken");
  CHECK(after({.status = 304}) == "taken");
  CHECK(after({.location = ""}) == "taken");
}

TEST_CASE("outgoing: a redirect to elsewhere is refused and says so (S12)") {
  const std::string elsewhere = "refused a redirect to another origin, ";
  CHECK(after({.location = "https://evil.example/x?y"}) == elsewhere + "https://evil.example");
  CHECK(after({.location = "//evil.example/"}) == elsewhere + "https://evil.example");
  CHECK(after({.location = "http://api.example/"}) == elsewhere + "http://api.example");
  CHECK(after({.location = "https://api.example:8443/"}) == elsewhere + "https://api.example:8443");
  const std::string no_url = "the answer redirects to something that is not a plain URL";
  CHECK(after({.location = "file:///etc/passwd"}) == no_url);
  CHECK(after({.location = "https://u:p@api.example/"}) == no_url);
  CHECK(after({.redirects_max = 2, .redirects = 2}) == "more than 2 redirects");
  CHECK(after({.redirects_max = 99, .redirects = 3}) == "more than 3 redirects");
}

TEST_CASE("outgoing: what cannot be sent is refused before it is") {
  CHECK(refusal({.url = "https://h/"}).empty());
  CHECK(refusal({.method = "PURGE", .url = "http://h/", .headers = {{"X-A", ""}}}).empty());
  CHECK(refusal({.url = "file:///etc/passwd"})
        == "the URL is refused: not an http or https URL: another scheme");
  CHECK(refusal({.url = "https://u:p@h/"})
        == "the URL is refused: user info belongs into a header");
  CHECK(refusal({.method = "", .url = "https://h/"}) == "the method is not a token");
  CHECK(refusal({.method = "GET /x", .url = "https://h/"}) == "the method is not a token");
  for (const http_header& h :
       {http_header{"A B", "1"}, http_header{"", "1"}, http_header{"A:", "1"},
        http_header{"A", "1\r\nB: 2"}, http_header{"A", "1\n"}}) {
    CHECK(refusal({.url = "https://h/", .headers = {h}}) == "a header is malformed");
  }
}

TEST_CASE("outgoing: a sentence about a request holds no secret (S7)") {
  http_request r{.method = "POST", .url = "https://h/a?token=hunter2"};
  auto at = http::url::parse(r.url);
  CHECK(http::about(r, *at, "refused") == "POST https://h/a: refused");
  CHECK(http::about(r, std::nullopt, "refused") == "POST (no URL): refused");
  r.method = "GET hunter2";
  CHECK(http::about(r, *at, "refused") == "(no method) https://h/a: refused");
}
