#include "http/live_body.hpp"
#include "tests/http/running_server.hpp"

#include <catch2/catch.hpp>

#include <future>
#include <memory>
#include <thread>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

namespace {

/// Answers every request with the same body.
struct stage {
  std::shared_ptr<http::live_body> body;

  explicit stage(std::size_t waiting_max = 1024 * 1024)
    : body{std::make_shared<http::live_body>(waiting_max)} {}

  http::request_handler handler() {
    return [b = body](const http::request&, const http::responder& reply) {
      http::response r;
      r.content_type = "text/event-stream";
      r.live = b;
      reply(std::move(r));
    };
  }

  /// Is the peer known to be gone within ten seconds?
  [[nodiscard]] bool closes() const {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!body->closed() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    return body->closed();
  }
};

const std::string get = "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";

} // namespace

TEST_CASE("live body: pieces arrive as they are written, in chunks, until the end") {
  stage s;
  running_server server{{}, s.handler()};
  auto client = server.connect();
  client.send(get);
  const auto head = client.read_until("\r\n\r\n");
  CHECK(has(head, "HTTP/1.1 200 OK\r\n"));
  CHECK(has(head, "Content-Type: text/event-stream\r\n"));
  CHECK(has(head, "Transfer-Encoding: chunked\r\n"));
  CHECK(has(head, "Connection: close\r\n"));
  CHECK(!has(head, "Content-Length"));
  CHECK(s.body->write("hello"));
  CHECK(client.read_until("hello\r\n") == "5\r\nhello\r\n");
  CHECK(s.body->write(std::string(300, 'x')));
  CHECK(client.read_until("x\r\n") == "12c\r\n" + std::string(300, 'x') + "\r\n");
  s.body->end();
  CHECK(client.read_to_end() == "0\r\n\r\n");
  CHECK(!s.body->write("more"));
}

TEST_CASE("live body: what was written before the request is there, and HTTP/1.0 gets it plain") {
  stage s;
  s.body->write("one");
  s.body->end();
  running_server server{{}, s.handler()};
  auto client = server.connect();
  client.send("GET /a HTTP/1.0\r\nHost: localhost\r\n\r\n");
  const auto all = client.read_to_end();
  CHECK(!has(all, "chunked"));
  CHECK(all.ends_with("\r\n\r\none"));
}

TEST_CASE("live body: a peer that leaves closes it") {
  stage s;
  running_server server{{}, s.handler()};
  {
    auto client = server.connect();
    client.send(get);
    client.read_until("\r\n\r\n");
    CHECK(!s.body->closed());
  }
  CHECK(s.closes());
}

TEST_CASE("live body: a peer that does not read is cut, and the writer never waits (S13)") {
  stage s{64 * 1024};
  running_server server{{}, s.handler()};
  auto client = server.connect();
  client.send(get);
  client.read_until("\r\n\r\n");
  const std::string piece(32 * 1024, 'x');
  // More than the sockets' buffers hold: at some point nothing more is taken.
  std::size_t written = 0;
  while (s.body->write(piece) && written < (1ULL << 30))
    written += piece.size();
  CHECK(s.body->closed());
  CHECK(written < (1ULL << 30));
}

TEST_CASE("live body: HEAD gets the head alone") {
  stage s;
  running_server server{{}, s.handler()};
  auto client = server.connect();
  client.send("HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(client.read_to_end().ends_with("Connection: close\r\n\r\n"));
  CHECK(s.body->closed());
}

TEST_CASE("live body: a server that stops ends its streams at once") {
  stage s;
  running_server server{{}, s.handler()};
  auto client = server.connect();
  client.send(get);
  client.read_until("\r\n\r\n");
  s.body->write("x");
  client.read_until("x\r\n");
  server->stop(60s);
  CHECK(client.read_to_end().empty());
  CHECK(s.body->closed());
}

TEST_CASE("live body: an answer that comes when the peer is gone is closed") {
  std::promise<http::responder> kept;
  running_server server{
    {}, [&](const http::request&, http::responder reply) { kept.set_value(std::move(reply)); }};
  auto asked = kept.get_future();
  auto client = server.connect();
  client.send(get);
  auto reply = asked.get();
  server->stop(0ms);
  stage s;
  http::response r;
  r.live = s.body;
  reply(std::move(r));
  CHECK(s.closes());
}
