#include "tests/http/running_server.hpp"

#include <catch2/catch.hpp>

#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Keeps responders until the test wants them answered.
struct held {
  std::mutex mutex;
  std::vector<http::responder> replies;
  std::promise<void> arrived;

  http::request_handler handler() {
    return [this](const http::request&, http::responder reply) {
      std::lock_guard lock{mutex};
      replies.push_back(std::move(reply));
      if (replies.size() == 1) arrived.set_value();
    };
  }
};

} // namespace

TEST_CASE("server: a response has length, type and nosniff") {
  running_server server;
  auto client = server.connect();
  client.send("POST /x?y=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi");
  CHECK(client.read_message()
        == "HTTP/1.1 200 OK\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 14\r\n"
           "Content-Type: text/plain\r\n\r\nPOST /x?y=1 hi");
}

TEST_CASE("server: a connection carries many requests, also all at once") {
  running_server server;
  auto client = server.connect();
  for (int i = 0; i < 3; ++i) {
    client.send(get);
    CHECK(client.read_message().ends_with("GET /a "));
  }
  std::string all;
  for (int i = 0; i < 50; ++i) {
    const auto n = std::to_string(i);
    all += "POST /" + n + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx";
  }
  client.send(all);
  for (int i = 0; i < 50; ++i) {
    CHECK(client.read_message().ends_with("POST /" + std::to_string(i) + " x"));
  }
}

TEST_CASE("server: a request may come in single bytes and in chunks") {
  running_server server;
  auto client = server.connect();
  for (char c : "POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
                  + get) {
    client.send({&c, 1});
  }
  CHECK(client.read_message().ends_with("POST /a abc"));
  CHECK(client.read_message().ends_with("GET /a "));
}

TEST_CASE("server: who expects 100-continue is told to go on") {
  running_server server;
  auto client = server.connect();
  client.send("POST /a HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
              "Content-Length: 2\r\n\r\n");
  CHECK(client.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hi");
  CHECK(client.read_message().ends_with("POST /a hi"));
}

TEST_CASE("server: HEAD gets the length and no body, 204 neither") {
  running_server server{{}, [](const http::request& r, const http::responder& reply) {
                          reply({r.method == "DELETE" ? 204 : 200, "body", "text/plain", {}});
                        }};
  auto client = server.connect();
  client.send("HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(has(client.read_until("\r\n\r\n"), "Content-Length: 4\r\n"));
  client.send("DELETE /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  auto none = client.read_until("\r\n\r\n");
  CHECK(has(none, "HTTP/1.1 204 No Content\r\n"));
  CHECK(!has(none, "\nContent-"));
  client.send("PURGE /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(client.read_message().ends_with("\r\n\r\nbody"));
}

TEST_CASE("server: it closes when asked to, and after HTTP/1.0") {
  running_server server;
  auto client = server.connect();
  client.send("GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK(has(client.read_to_end(), "Connection: close\r\n"));
  auto old = server.connect();
  old.send("GET /a HTTP/1.0\r\n\r\n");
  CHECK(old.read_to_end().ends_with("GET /a "));
}

TEST_CASE("server: headers that would break the response are left out") {
  running_server server{{}, [](const http::request&, const http::responder& reply) {
                          reply({200, "", "text/plain", {{"X-A", "1"}, {"X-B", "1\r\nX-C: 2"}}});
                        }};
  auto client = server.connect();
  client.send(get);
  auto answer = client.read_message();
  CHECK(has(answer, "X-A: 1\r\n"));
  CHECK(!has(answer, "X-B"));
  CHECK(!has(answer, "X-C:"));
}

TEST_CASE("server: a dropped responder answers 503, a used one only once") {
  running_server server{{}, [](const http::request& r, const http::responder& reply) {
                          if (r.target == "/drop") return;
                          auto copy = reply;
                          copy({200, "first", "text/plain", {}});
                          reply({200, "second", "text/plain", {}});
                        }};
  auto client = server.connect();
  client.send("GET /twice HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(client.read_message().ends_with("first"));
  client.send("GET /drop HTTP/1.1\r\nHost: localhost\r\n\r\n");
  auto answer = client.read_message();
  CHECK(has(answer, "HTTP/1.1 503 Service Unavailable\r\n"));
  CHECK(has(answer, R"("code":"UNAVAILABLE")"));
  CHECK(has(answer, R"("retryable":true)"));
}

TEST_CASE("server: a host or origin that a foreign page would send is refused") {
  running_server server;
  auto asked = [&](std::string head) {
    auto client = server.connect();
    client.send(std::move(head) + "\r\n\r\n");
    return client.read_to_end();
  };
  CHECK(has(asked("GET / HTTP/1.1\r\nHost: evil.example"), "HTTP/1.1 421 "));
  CHECK(has(asked("GET / HTTP/1.1"), "HTTP/1.1 400 "));
  CHECK(has(asked("GET http://localhost/ HTTP/1.1\r\nHost: localhost"), "HTTP/1.1 400 "));
  auto crossed = asked("POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example");
  CHECK(has(crossed, "HTTP/1.1 403 "));
  CHECK(has(crossed, R"("code":"CROSS_SITE")"));
}

TEST_CASE("server: a taken port is one clear sentence") {
  running_server first;
  http::server_options options;
  options.port = first->port();
  auto second = http::server::start(options, running_server::echo);
  REQUIRE(!second);
  CHECK(code_of(second.error()) == errc::address_in_use);
  CHECK(detail_of(second.error())
        == "port " + std::to_string(first->port())
             + " of 127.0.0.1 is in use: another node may be running there");
}

TEST_CASE("server: only loopback addresses are listened on (S1)") {
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1", "example.com", ""}) {
    CAPTURE(host);
    http::server_options options;
    options.host = host;
    auto refused = http::server::start(options, running_server::echo);
    REQUIRE(!refused);
    CHECK(code_of(refused.error()) == errc::bad_input);
    CHECK(has(detail_of(refused.error()), "listen on "));
  }
  http::server_options options;
  options.host = "localhost";
  CHECK(http::server::start(options, running_server::echo));
}

TEST_CASE("server: stop finishes the request in flight and closes idle connections") {
  held requests;
  running_server server{{}, requests.handler()};
  auto idle = server.connect();
  auto busy = server.connect();
  busy.send(get);
  requests.arrived.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] { server->stop(10s); });
  CHECK(idle.read_to_end().empty());
  CHECK(stopped.wait_for(0s) == std::future_status::timeout);
  requests.replies.front()({200, "late", "text/plain", {}});
  auto answer = busy.read_to_end();
  CHECK(has(answer, "Connection: close\r\n"));
  CHECK(answer.ends_with("late"));
  busy.end_sending();
  stopped.wait();
  CHECK_THROWS(server.connect());
}

TEST_CASE("server: stop cuts what exceeds its grace; answers after that go nowhere") {
  held requests;
  std::optional<running_server> server{std::in_place, http::server_options{}, requests.handler()};
  auto client = server->connect();
  client.send(get);
  requests.arrived.get_future().wait();
  (*server)->stop(10ms);
  CHECK(client.read_to_end().empty());
  server.reset();
  requests.replies.front()({200, "too late", "text/plain", {}});
}

TEST_CASE("server: stop_accepting frees the port, connections go on") {
  running_server server;
  auto client = server.connect();
  client.send(get);
  CHECK(client.read_message().ends_with("GET /a "));
  server->stop_accepting();
  CHECK_THROWS(server.connect());
  client.send(get);
  CHECK(client.read_message().ends_with("GET /a "));
}

TEST_CASE("server: many clients on several threads each get their own answer") {
  http::server_options options;
  options.threads = 2;
  running_server server{options};
  std::vector<std::future<int>> clients;
  for (int c = 0; c < 8; ++c) {
    clients.push_back(std::async(std::launch::async, [&server, c] {
      int right = 0;
      auto client = server.connect();
      for (int i = 0; i < 100; ++i) {
        const auto path = "/" + std::to_string(c) + "/" + std::to_string(i);
        client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        right += client.read_message().ends_with("GET " + path + " ") ? 1 : 0;
      }
      return right;
    }));
  }
  for (auto& c : clients)
    CHECK(c.get() == 100);
}

TEST_CASE("server: a host that was good once does not vouch for the next one") {
  running_server server;
  auto client = server.connect();
  client.send(get);
  CHECK(has(client.read_message(), "200 OK"));
  client.send(get);
  CHECK(has(client.read_message(), "200 OK"));
  client.send("GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  CHECK(has(client.read_message(), "421 "));
}

TEST_CASE("server: an answer may be late, lost, or cut inside its body") {
  http::response answer;
  answer.body = "0123456789";
  running_server server{{},
                        [&](const http::request&, const http::responder& reply) { reply(answer); }};
  auto client = server.connect();
  SECTION("late") {
    answer.delay = 1ms;
    client.send(get + get);
    CHECK(has(client.read_message(), "0123456789"));
    CHECK(has(client.read_message(), "0123456789"));
  }
  SECTION("lost") {
    answer.lost = true;
    client.send(get);
    CHECK(client.read_to_end().empty());
  }
  SECTION("cut") {
    answer.cut_after = 4;
    client.send(get);
    const auto got = client.read_to_end();
    CHECK(has(got, "Content-Length: 10\r\n"));
    CHECK(got.ends_with("\r\n\r\n0123"));
  }
  SECTION("so late that the server stops first") {
    answer.delay = 1h;
    client.send(get);
    server->stop(0ms);
    CHECK(client.read_to_end().empty());
  }
}

TEST_CASE("server: a body that does not fit into the socket comes whole") {
  http::response answer;
  answer.body = std::string(20'000'000, 'x');
  running_server server{{},
                        [&](const http::request&, const http::responder& reply) { reply(answer); }};
  auto client = server.connect();
  client.send(get + get);
  for (int i = 0; i < 2; ++i)
    CHECK(client.read_message().ends_with("\r\n\r\n" + answer.body));
}
