#include "base/json.hpp"
#include "tests/http/running_server.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <thread>
#include <vector>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";

http::server_options small() {
  http::server_options o;
  o.header_bytes_max = 1024;
  o.body_bytes_max = 1000;
  o.request_timeout = 200ms;
  o.idle_timeout = 200ms;
  o.write_timeout = 200ms;
  o.linger_timeout = 200ms;
  return o;
}

} // namespace

TEST_CASE("server: an error is JSON with code, message and operation (J12)") {
  running_server server{small()};
  auto client = server.connect();
  client.send("GARBAGE\r\n\r\n");
  auto answer = client.read_to_end();
  CHECK(has(answer, "HTTP/1.1 400 Bad Request\r\n"));
  CHECK(has(answer, "Content-Type: application/json\r\n"));
  CHECK(has(answer, "X-Content-Type-Options: nosniff\r\n"));
  auto body = json::document::parse(answer.substr(answer.find("\r\n\r\n") + 4));
  REQUIRE(body);
  auto error = body->root().find("error");
  REQUIRE(error);
  CHECK(*error->find("code")->str() == "BAD_REQUEST");
  CHECK(!error->find("message")->str()->empty());
  CHECK(error->find("details")->is_null());
  CHECK(*error->find("retryable")->boolean() == false);
  auto metadata = body->root().find("metadata");
  REQUIRE(metadata);
  CHECK(parse_uuid(*metadata->find("operationId")->str()));
  CHECK(metadata->find("timestamp")->str());
}

TEST_CASE("server: headers over the limit get 431 (S13)") {
  running_server server{small()};
  auto client = server.connect();
  client.send("GET /a HTTP/1.1\r\nHost: localhost\r\nX-A: " + std::string(2000, 'a') + "\r\n\r\n");
  CHECK(has(client.read_to_end(), "HTTP/1.1 431 "));
  auto endless = server.connect();
  endless.send("GET /" + std::string(64'000, 'a'));
  CHECK(has(endless.read_to_end(), "HTTP/1.1 431 "));
}

TEST_CASE("server: a body over the limit gets 413, announced or not (S13)") {
  running_server server{small()};
  const std::string post = "POST /a HTTP/1.1\r\nHost: localhost\r\n";
  auto announced = server.connect();
  announced.send(post + "Content-Length: 1001\r\n\r\n");
  CHECK(has(announced.read_to_end(), "HTTP/1.1 413 "));
  auto expecting = server.connect();
  expecting.send(post + "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
  CHECK(has(expecting.read_to_end(), "HTTP/1.1 413 "));
  auto chunked = server.connect();
  chunked.send(post + "Transfer-Encoding: chunked\r\n\r\n400\r\n" + std::string(1024, 'a')
               + "\r\n400\r\n" + std::string(1024, 'a') + "\r\n0\r\n\r\n");
  CHECK(has(chunked.read_to_end(), "HTTP/1.1 413 "));
  auto exact = server.connect();
  exact.send(post + "Content-Length: 1000\r\n\r\n" + std::string(1000, 'a'));
  CHECK(has(exact.read_message(), "HTTP/1.1 200 "));
}

TEST_CASE("server: our last words arrive although the peer still sends") {
  running_server server{small()};
  auto client = server.connect();
  client.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500000\r\n\r\n"
              + std::string(500'000, 'a'));
  CHECK(has(client.read_to_end(), R"("code":"BODY_TOO_LARGE")"));
}

TEST_CASE("server: two lengths, or a length and chunks, are refused") {
  running_server server{small()};
  const std::string post = "POST /a HTTP/1.1\r\nHost: localhost\r\n";
  auto two = server.connect();
  two.send(post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab");
  CHECK(has(two.read_to_end(), "HTTP/1.1 400 "));
  auto both = server.connect();
  both.send(post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  CHECK(has(both.read_to_end(), "HTTP/1.1 400 "));
}

TEST_CASE("server: a request that trickles in is cut with 408, however busy it looks (S13)") {
  running_server server{small()};
  auto client = server.connect();
  const auto begin = std::chrono::steady_clock::now();
  client.send("GET /a HTTP/1.1\r\nHost: localhost\r\n");
  // Slow-loris: a header now and then would keep any idle timer alive.
  while (client.send("X-A: b\r\n") && std::chrono::steady_clock::now() - begin < 150ms) {
    std::this_thread::sleep_for(20ms);
  }
  CHECK(has(client.read_to_end(), "HTTP/1.1 408 "));
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
}

TEST_CASE("server: a connection that says nothing is closed without a word") {
  running_server server{small()};
  auto silent = server.connect();
  CHECK(silent.read_to_end().empty());
  auto once = server.connect();
  once.send(get);
  CHECK(has(once.read_message(), "HTTP/1.1 200 "));
  CHECK(once.read_to_end().empty());
}

TEST_CASE("server: no deadline runs while the answer is worked on") {
  std::vector<std::thread> workers;
  {
    running_server server{small(), [&](const http::request&, http::responder reply) {
                            workers.emplace_back([reply = std::move(reply)] {
                              std::this_thread::sleep_for(500ms);
                              reply({200, "slow", "text/plain", {}});
                            });
                          }};
    auto client = server.connect();
    client.send(get);
    CHECK(client.read_message().ends_with("slow"));
  }
  for (auto& w : workers)
    w.join();
}

TEST_CASE("server: a peer that does not read is cut after the write time-out") {
  auto options = small();
  running_server server{options, [](const http::request&, const http::responder& reply) {
                          reply({200, std::string(64 << 20, 'a'), "text/plain", {}});
                        }};
  auto client = server.connect();
  client.send(get);
  CHECK(has(client.read_until("\r\n\r\n"), "Content-Length: 67108864\r\n"));
  std::this_thread::sleep_for(600ms);
  CHECK(client.read_to_end().size() < (64U << 20));
}

TEST_CASE("server: connections over the limit are told so, and there is room again later") {
  auto options = small();
  options.connections_max = 2;
  options.idle_timeout = 10s;
  running_server server{options};
  auto first = server.connect();
  first.send(get);
  CHECK(has(first.read_message(), "HTTP/1.1 200 "));
  {
    auto second = server.connect();
    second.send(get);
    CHECK(has(second.read_message(), "HTTP/1.1 200 "));
    auto third = server.connect();
    auto answer = third.read_to_end();
    CHECK(has(answer, "HTTP/1.1 503 "));
    CHECK(has(answer, R"("retryable":true)"));
  }
  // The server notices the two hang-ups when it reads: until then it may still be full.
  for (int tries = 0; tries < 1000; ++tries) {
    auto again = server.connect();
    again.send(get);
    if (has(again.read_message(), "HTTP/1.1 200 ")) return;
  }
  FAIL("there never was room again");
}
