#include "tests/http/asking.hpp"
#include "tests/http/running_server.hpp"
#include "tests/support/raw_server.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

namespace {

raw_server::script once(std::string answer) {
  return [answer = std::move(answer)](raw_stream& s) {
    s.read_message();
    s.send(answer);
  };
}

/// 100,000 times `a`, gzipped: `GzipFile(mtime=0, compresslevel=9)` of Python wrote it.
std::string gzipped() {
  std::string bytes{"\x1f\x8b\x08\0\0\0\0\0\x02\xff", 10};
  bytes.append("\xed\xc1\x31\x01\0\0\0\xc2\xa0\xac\xeb\x5f\xc2\x1a\x1e\x40\x01", 17);
  bytes.append(96, '\0');
  return bytes.append("\xaf\x06\x87\xfa\xe2\x1b\xa0\x86\x01\0", 10);
}

std::string with_length(const std::string& headers, const std::string& body) {
  return "HTTP/1.1 200 OK\r\n" + headers + "Content-Length: " + std::to_string(body.size())
         + "\r\n\r\n" + body;
}

} // namespace

TEST_CASE("curl_loop: an answer that does not come is a time-out") {
  raw_server server{[](raw_stream& s) { s.read_to_end(); }};
  asking client;
  const auto begin = std::chrono::steady_clock::now();
  auto got = client.ask({.url = server.url("/slow?token=hunter2"), .timeout = 100ms});
  CHECK(got.timed_out);
  CHECK(has(got.error, "GET " + server.url("/slow") + ": timed out: "));
  CHECK(!has(got.error, "hunter2"));
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
}

TEST_CASE("curl_loop: a redirect does not renew the time-out") {
  raw_server server{[](raw_stream& s) {
    while (!s.read_message().empty()) {
      std::this_thread::sleep_for(150ms);
      s.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /a\r\n\r\n");
    }
  }};
  asking client;
  CHECK(client.ask({.url = server.url("/a"), .timeout = 250ms, .redirects_max = 3}).timed_out);
}

TEST_CASE("curl_loop: a server that trickles is a time-out") {
  raw_server server{[](raw_stream& s) {
    s.read_message();
    s.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    while (s.send("x"))
      std::this_thread::sleep_for(50ms);
  }};
  asking client{{.low_speed_bytes_per_s = 1000, .low_speed_time = 1s}};
  auto got = client.ask({.url = server.url("/"), .timeout = 8s});
  CHECK(got.timed_out);
}

TEST_CASE("curl_loop: the limit on the body counts, with length, chunked and inflated (S13)") {
  asking client;
  auto limited = [&](const raw_server& s, std::uint64_t max) {
    return client.ask({.url = s.url("/big"), .body_bytes_max = max});
  };
  const std::string ten(10, 'x');

  raw_server known{once(with_length("", ten))};
  CHECK(limited(known, 10).body == ten);
  auto got = limited(known, 9);
  CHECK(got.too_large);
  CHECK(got.body.empty());
  CHECK(got.error == "GET " + known.url("/big") + ": the body exceeds 9 bytes");

  raw_server chunked{[&](raw_stream& s) {
    s.read_message();
    s.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (s.send("a\r\n" + ten + "\r\n")) {
    }
  }};
  CHECK(limited(chunked, 100'000).too_large);

  raw_server zipped{once(with_length("Content-Encoding: gzip\r\n", gzipped()))};
  CHECK(limited(zipped, 100'000).body.size() == 100'000);
  CHECK(limited(zipped, 99'999).too_large);
}

TEST_CASE("curl_loop: endless headers are refused") {
  raw_server server{[](raw_stream& s) {
    s.read_message();
    s.send("HTTP/1.1 200 OK\r\n");
    while (s.send("X-A: " + std::string(1000, 'a') + "\r\n")) {
    }
  }};
  asking client;
  auto got = client.ask({.url = server.url("/")});
  CHECK(got.error == "GET " + server.url("/") + ": the headers of the answer are too large");
}

TEST_CASE("curl_loop: an answer that breaks off is an error") {
  raw_server server{once("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")};
  asking client;
  auto got = client.ask({.url = server.url("/")});
  CHECK(!got.error.empty());
  CHECK(got.body.empty());
  CHECK(!got.timed_out);
}

TEST_CASE("curl_loop: what is not HTTP is an error") {
  asking client;
  for (const char* garbage : {"", "SSH-2.0-OpenSSH_9\r\n", "\x16\x03\x01", "HTTP/1.1\r\n\r\n",
                              "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n"}) {
    CAPTURE(garbage);
    raw_server server{once(garbage)};
    auto got = client.ask({.url = server.url("/")});
    CHECK(has(got.error, "GET " + server.url("/") + ": "));
  }
}

TEST_CASE("curl_loop: a 100 before the answer is not the answer") {
  raw_server server{
    once("HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\n" + with_length("X-B: 2\r\n", "ok"))};
  asking client;
  auto got = client.ask({.url = server.url("/")});
  CHECK(got.status == 200);
  CHECK(got.header("X-A").empty());
  CHECK(got.header("X-B") == "2");
}

TEST_CASE("curl_loop: a refused connection says where") {
  std::uint16_t port = 0;
  {
    running_server gone;
    port = gone->port();
  }
  asking client;
  const auto where = "http://127.0.0.1:" + std::to_string(port);
  auto got = client.ask({.url = where + "/a?token=hunter2", .headers = {{"X-Key", "hunter2"}}});
  CHECK(has(got.error, "GET " + where + "/a: Failed to connect to 127.0.0.1 port "));
  CHECK(!has(got.error, "hunter2"));
  CHECK(got.status == 0);
}

TEST_CASE("curl_loop: only http and https, and nothing that breaks a request (S11)") {
  asking client;
  for (const char* url :
       {"file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "", "x"}) {
    auto got = client.ask({.url = url});
    CHECK(has(got.error, "GET (no URL): the URL is refused: not an http or https URL"));
    CHECK(got.body.empty());
  }
  auto split =
    client.ask({.url = "http://127.0.0.1:1/", .headers = {{"X-A", "hunter2\r\nX-B: 1"}}});
  CHECK(split.error == "GET http://127.0.0.1:1/: a header is malformed");
}

TEST_CASE("curl_loop: a proxy in the environment is not obeyed") {
  raw_server proxy{once(with_length("", "proxy"))};
  raw_server server{once(with_length("", "server"))};
  ::setenv("http_proxy", proxy.url("").c_str(), 1);
  asking client;
  auto got = client.ask({.url = server.url("/")});
  ::unsetenv("http_proxy");
  CHECK(got.body == "server");
}

TEST_CASE("curl_loop: an id that is open cannot be started again") {
  raw_server server{[](raw_stream& s) { s.read_to_end(); }};
  std::promise<http_response> second;
  http::curl_loop loop;
  loop.start(7, {.url = server.url("/")}, [](std::uint64_t, const http_response&) {});
  loop.start(7, {.url = server.url("/")},
             [&](std::uint64_t, http_response r) { second.set_value(std::move(r)); });
  CHECK(second.get_future().get().error == "GET " + server.url("/") + ": this id is in use");
}
