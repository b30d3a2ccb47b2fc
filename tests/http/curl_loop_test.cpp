#include "http/curl_loop.hpp"
#include "http/url.hpp"
#include "tests/http/asking.hpp"
#include "tests/http/running_server.hpp"
#include "tests/support/raw_server.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <vector>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

namespace {

/// Answers every request of a connection with `answer`.
raw_server::script always(std::string answer) {
  return [answer = std::move(answer)](raw_stream& s) {
    while (!s.read_message().empty() && s.send(answer)) {
    }
  };
}

} // namespace

TEST_CASE("curl_loop: methods, bodies, status and headers arrive on both sides") {
  running_server server{{}, [](const http::request& r, const http::responder& reply) {
                          reply({r.method == "PUT" ? 409 : 200,
                                 r.method + " " + r.target + " " + r.body + " "
                                   + std::string{r.header("X-A")} + " "
                                   + std::string{r.header("Content-Type")},
                                 "text/plain",
                                 {{"X-B", "2"}, {"X-b", "3"}}});
                        }};
  asking client;
  auto got = client.ask({.url = server.url("/a?b=c%20d"), .headers = {{"X-A", "1"}}});
  CHECK(got.error.empty());
  CHECK(got.status == 200);
  CHECK(got.body == "GET /a?b=c%20d  1 ");
  CHECK(got.header("x-B") == "2");
  CHECK(got.final_url == server.url("/a?b=c%20d"));

  // One handle carries them all, so what one request set must not stick to the next.
  CHECK(client.ask({.method = "POST", .url = server.url("/"), .body = "hi"}).body == "POST / hi  ");
  CHECK(client.ask({.method = "POST", .url = server.url("/")}).body == "POST /   ");
  auto head = client.ask({.method = "HEAD", .url = server.url("/")});
  CHECK(head.status == 200);
  CHECK(head.body.empty());
  CHECK(client.ask({.method = "DELETE", .url = server.url("/")}).body == "DELETE /   ");
  auto put = client.ask({.method = "PUT",
                         .url = server.url("/"),
                         .headers = {{"Content-Type", "application/json"}},
                         .body = "{}"});
  CHECK(put.status == 409);
  CHECK(put.error.empty());
  CHECK(put.body == "PUT / {}  application/json");
  CHECK(client.ask({.url = server.url("/")}).body == "GET /   ");
}

TEST_CASE("curl_loop: a large body is sent without waiting for a 100") {
  http::server_options options;
  options.body_bytes_max = 8 << 20;
  running_server server{
    options, [](const http::request& r, const http::responder& reply) {
      reply({200,
             std::to_string(r.body.size()) + " " + std::to_string(r.count("Expect")),
             "text/plain",
             {}});
    }};
  asking client;
  auto got =
    client.ask({.method = "POST", .url = server.url("/"), .body = std::string(4 << 20, 'x')});
  CHECK(got.body == "4194304 0");
}

TEST_CASE("curl_loop: one connection carries many requests") {
  raw_server server{always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")};
  asking client;
  for (int i = 0; i < 50; ++i)
    CHECK(client.ask({.url = server.url("/")}).body == "ok");
  CHECK(server.connections() == 1);
}

TEST_CASE("curl_loop: thousands at once all come back, with bounded connections") {
  running_server server;
  asking client{{.open_max = 8}};
  std::vector<std::future<http_response>> answers(2000);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    client.start({.url = server.url("/" + std::to_string(i))}, answers[i]);
  }
  int wrong = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto got = answers[i].get();
    wrong += got.body == "GET /" + std::to_string(i) + " " ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("curl_loop: a request that is aborted is answered so, under way or waiting") {
  std::promise<void> arrived;
  raw_server server{[&](raw_stream& s) {
    s.read_message();
    arrived.set_value();
    s.read_to_end();
  }};
  asking client{{.open_max = 1}};
  std::future<http_response> under_way;
  std::future<http_response> waiting;
  const auto first = client.start({.url = server.url("/a?token=x")}, under_way);
  const auto second = client.start({.url = server.url("/b")}, waiting);
  arrived.get_future().wait();
  client.loop().abort(second);
  const auto got = waiting.get();
  CHECK(got.aborted);
  CHECK(got.error == "GET (no URL): aborted");
  client.loop().abort(first);
  client.loop().abort(first);
  client.loop().abort(12345);
  CHECK(under_way.get().error == "GET " + server.url("/a") + ": aborted");
}

TEST_CASE("curl_loop: its end answers whatever is open") {
  std::promise<void> arrived;
  raw_server server{[&](raw_stream& s) {
    s.read_message();
    arrived.set_value();
    s.read_to_end();
  }};
  std::optional<asking> client{std::in_place, http::curl_options{.open_max = 1}};
  std::vector<std::future<http_response>> answers(3);
  for (auto& a : answers)
    client->start({.url = server.url("/")}, a);
  arrived.get_future().wait();
  client.reset();
  for (auto& a : answers)
    CHECK(a.get().aborted);
}

TEST_CASE("curl_loop: a callback may start the next request") {
  running_server server;
  http::curl_loop loop;
  std::promise<std::string> last;
  loop.start(1, {.url = server.url("/1")}, [&](std::uint64_t, const http_response&) {
    loop.start(1, {.url = server.url("/2")},
               [&](std::uint64_t, const http_response& r) { last.set_value(r.body); });
  });
  CHECK(last.get_future().get() == "GET /2 ");
}

TEST_CASE("curl_loop: a redirect is followed within the origin, with its credentials (S12)") {
  std::string seen;
  running_server server{{}, [&](const http::request& r, const http::responder& reply) {
                          if (r.target != "/end") {
                            reply({302, "", "text/plain", {{"Location", "/end"}}});
                          } else {
                            seen = r.header("X-API-Key");
                            reply({200, "end", "text/plain", {}});
                          }
                        }};
  asking client;
  http_request r{
    .url = server.url("/begin"), .headers = {{"X-API-Key", "k-123", true}}, .redirects_max = 3};
  auto got = client.ask(r);
  CHECK(got.body == "end");
  CHECK(got.final_url == server.url("/end"));
  CHECK(seen == "k-123");

  r.redirects_max = 0;
  got = client.ask(r);
  CHECK(got.status == 302);
  CHECK(got.error.empty());
  CHECK(got.header("Location") == "/end");

  r.redirects_max = 3;
  r.method = "POST";
  got = client.ask(r);
  CHECK(got.status == 302);
  CHECK(got.error.empty());
}

TEST_CASE("curl_loop: credentials never reach another origin (S12)") {
  raw_server thief{always("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")};
  raw_server server{always(
    "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + thief.url("/x?y") + "\r\n\r\n")};
  asking client;
  auto got = client.ask({.url = server.url("/a"),
                         .headers = {{"X-API-Key", "k-123", true}, {"Authorization", "Bearer t"}},
                         .redirects_max = 3});
  CHECK(got.status == 302);
  CHECK(got.error
        == "GET " + server.url("/a") + ": refused a redirect to another origin, "
             + http::to_string(http::url::parse(thief.url("/"))->where()));
  CHECK(thief.connections() == 0);
}

TEST_CASE("curl_loop: a redirect loop ends") {
  raw_server server{always("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /a\r\n\r\n")};
  asking client;
  auto got = client.ask({.url = server.url("/a"), .redirects_max = 2});
  CHECK(got.status == 302);
  CHECK(got.error == "GET " + server.url("/a") + ": more than 2 redirects");
}
