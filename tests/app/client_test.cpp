#include "app/client.hpp"
#include "tests/http/running_server.hpp"
#include "tests/support/raw_server.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

namespace {

/// A node that always says the same.
running_server saying(int status, std::string body) {
  return running_server{{}, [=](const http::request&, const http::responder& reply) {
                          reply({status, body, "application/json", {}});
                        }};
}

std::string text_of(const result<std::string>& r) {
  return r ? *r : to_text(r.error());
}

} // namespace

TEST_CASE("client: the node is named by flag, variable or default, in that order") {
  CHECK(node_url("http://a", "http://b") == "http://a");
  CHECK(node_url({}, "http://b") == "http://b");
  CHECK(node_url("", "") == "http://127.0.0.1:8090");
  CHECK(node_url({}, {}) == "http://127.0.0.1:8090");
  auto wrong = client::make("127.0.0.1:8090");
  REQUIRE(!wrong);
  CHECK(to_text(wrong.error())
        == "bad_input: --url or SLUICE_URL: not an http or https URL: no scheme");
}

TEST_CASE("client: requests go below the base URL, answers come back as text") {
  running_server node{{}, [](const http::request& r, const http::responder& reply) {
                        reply({202,
                               R"({"seen":")" + r.method + " " + r.target + " " + r.body + " "
                                 + std::string{r.header("Content-Type")} + R"("})",
                               "application/json",
                               {}});
                      }};
  auto c = client::make(node.url("/base/"));
  REQUIRE(c);
  CHECK(text_of(c->get("/runs?limit=1")) == R"({"seen":"GET /base/runs?limit=1  "})");
  CHECK(text_of(c->post("/runs", "7")) == R"({"seen":"POST /base/runs 7 application/json"})");
  CHECK(text_of(c->get("/../x"))
        == "bad_input: not an http or https URL: a . or .. segment in a path");
}

TEST_CASE("client: nobody there is one line that says what to do") {
  std::string where;
  {
    running_server gone;
    where = gone.url("");
  }
  auto c = client::make(where);
  REQUIRE(c);
  CHECK(text_of(c->get("/runs"))
        == "network: no node answers at " + where + "; start one with `sluice node`");
}

TEST_CASE("client: a node's refusal keeps its meaning and its words") {
  auto refused = [](int status) {
    auto node = saying(status, R"({"error":{"code":"X","message":"no such run"}})");
    return text_of(client::make(node.url(""))->get("/runs/1"));
  };
  CHECK(refused(400) == "bad_input: no such run");
  CHECK(refused(404) == "not_found: no such run");
  CHECK(refused(409) == "conflict: no such run");
  CHECK(refused(413) == "too_large: no such run");
  CHECK(refused(503) == "unavailable: no such run");
  CHECK(refused(504) == "timed_out: no such run");
  CHECK(refused(500) == "internal: no such run");
}

TEST_CASE("client: something else on that port is not taken for a node") {
  for (int status : {200, 404, 302}) {
    auto other = saying(status, "<html>hello</html>");
    CHECK(text_of(client::make(other.url(""))->get("/runs"))
          == "network: what answers at " + other.url("") + " is no sluice node (status "
               + std::to_string(status) + ")");
  }
}

TEST_CASE("client: a silent node and a broken answer are told apart") {
  raw_server silent{[](raw_stream& s) { s.read_to_end(); }};
  CHECK(text_of(client::make(silent.url(""), 100ms)->get("/"))
        == "timed_out: the node at " + silent.url("") + " did not answer within 100 ms");
  raw_server broken{[](raw_stream& s) {
    s.read_message();
    s.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  }};
  CHECK(text_of(client::make(broken.url(""))->get("/"))
        == "network: the answer of the node at " + broken.url("") + " broke off");
}
