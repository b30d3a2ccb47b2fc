#include "http/guards.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

int status_of(std::string method, std::vector<http::field> headers, bool http_1_0 = false) {
  http::request r;
  r.method = std::move(method);
  r.headers = std::move(headers);
  auto refused = http::guard(r, http_1_0, "sluice.internal");
  return refused ? refused->status : 0;
}

} // namespace

TEST_CASE("guards: only loopback names and the listen host are answered") {
  for (const char* host : {"localhost", "LOCALHOST:8090", "127.0.0.1:8090", "127.0.0.2", "[::1]:1",
                           "sluice.internal", "Sluice.Internal:99"}) {
    CAPTURE(host);
    CHECK(status_of("GET", {{"Host", host}}) == 0);
  }
  for (const char* host :
       {"evil.example", "evil.example:8090", "localhost.evil", "10.0.0.1", "127.0.0.1.nip.io"}) {
    CAPTURE(host);
    CHECK(status_of("GET", {{"Host", host}}) == 421);
  }
}

TEST_CASE("guards: a Host header is there once and well-formed") {
  CHECK(status_of("GET", {}) == 400);
  CHECK(status_of("GET", {}, true) == 0);
  CHECK(status_of("GET", {{"Host", "localhost"}, {"host", "localhost"}}) == 400);
  for (const char* host : {"", "localhost/evil", "localhost@evil", "evil@localhost", "local host",
                           "localhost:http", "2130706433", "localhost?x", "localhost#x"}) {
    CAPTURE(host);
    CHECK(status_of("GET", {{"Host", host}}) == 400);
  }
}

TEST_CASE("guards: another site's page may not change anything") {
  auto post = [](const char* origin) {
    return status_of("POST", {{"Host", "localhost:8090"}, {"Origin", origin}});
  };
  CHECK(post("http://localhost:8090") == 0);
  CHECK(post("HTTP://LOCALHOST:8090") == 0);
  CHECK(post("http://localhost:3000") == 403);
  CHECK(post("http://localhost") == 403);
  CHECK(post("https://localhost:8090") == 403);
  CHECK(post("https://evil.example") == 403);
  CHECK(post("null") == 403);
  CHECK(post("") == 403);
  CHECK(status_of("POST", {{"Host", "localhost"}}) == 0);
  CHECK(status_of("DELETE", {{"Host", "localhost"}, {"Origin", "http://evil"}}) == 403);
  CHECK(status_of("GET", {{"Host", "localhost"}, {"Origin", "http://evil"}}) == 0);
  CHECK(status_of("POST", {{"Origin", "http://localhost"}}, true) == 403);
  CHECK(
    status_of("POST",
              {{"Host", "localhost"}, {"Origin", "http://localhost"}, {"Origin", "http://evil"}})
    == 403);
}
