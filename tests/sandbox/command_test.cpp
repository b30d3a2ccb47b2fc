#include "http/server.hpp"
#include "tests/support/process.hpp"
#include "tests/support/raw_stream.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <thread>

using namespace sluice;
using namespace sluice::test;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A sandbox of its own process, on a free port.
struct running_sandbox {
  explicit running_sandbox(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"sandbox", "--listen", "0", "--port-file", dir.at("port")});
    program.emplace(SLUICE_BINARY, flags);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (read_file(dir.at("port")).empty()) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"it does not start"};
      std::this_thread::yield();
    }
    port = static_cast<std::uint16_t>(std::stoul(read_file(dir.at("port"))));
  }

  [[nodiscard]] std::string ask(const std::string& line) const {
    auto stream = raw_stream::to(port);
    stream.send(line + " HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: sandbox-key\r\n\r\n");
    return stream.read_message();
  }

  temp_folder dir;
  std::optional<process> program;
  std::uint16_t port = 0;
};

} // namespace

TEST_CASE("sandbox command: serves until SIGTERM and ends with a summary") {
  running_sandbox s{{"--threads", "2", "--tenants", "1"}};
  CHECK(has(s.ask("GET /health"), "200 OK"));
  CHECK(has(s.ask("GET /gateway/connections/conn-1"), "\"acme-1/api-1\""));
  CHECK(has(s.ask("GET /gateway/connections/conn-2"), "404 Not Found"));
  CHECK(has(s.ask("GET /ledger"), "\"gateway_connections\":2"));
  s.program->signal(SIGTERM);
  const auto end = s.program->wait(std::chrono::seconds{10});
  REQUIRE(end);
  CHECK(end->code == 0);
  CHECK(has(end->out, "SLUICE_GITHUB_URL=http://127.0.0.1:" + std::to_string(s.port) + "/github"));
  CHECK(has(end->out, "missing 0, corrupted 0"));
}

TEST_CASE("sandbox command: a lost answer closes the connection, a late one comes") {
  running_sandbox s{{"--lost-answers", "1", "--gateway-latency-ms", "1"}};
  CHECK(has(s.ask("GET /gateway/connections/conn-1"), "200 OK"));
  auto stream = raw_stream::to(s.port);
  const std::string event =
    R"({"connectionId":"conn-1","orgId":"org-conn-1","deliveryId":"backfill-conn-1-1-pr-1",)"
    R"("eventType":"pull_request","payload":{"pull_request":{}},"receivedAt":1})";
  stream.send(
    "POST /gateway/webhooks/github HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: sandbox-key\r\n"
    "Content-Length: "
    + std::to_string(event.size()) + "\r\n\r\n" + event);
  CHECK(stream.read_to_end().empty());
  CHECK(has(s.ask("GET /ledger"), "\"distinct\":1"));
}

TEST_CASE("sandbox command: a taken port is told, exit code 3") {
  auto other = http::server::start({}, [](const http::request&, const http::responder&) {});
  REQUIRE(other);
  const auto port = std::to_string((*other)->port());
  const auto end = run(SLUICE_BINARY, {"sandbox", "--listen", "127.0.0.1:" + port});
  CHECK(end.code == 3);
  CHECK(has(end.err, "is in use"));
}

TEST_CASE("sandbox command: flags that make no sense are told, exit code 2") {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--tenants", "many"},
                                                {"--provider-5xx", "1.5"},
                                                {"--repos", "-1"},
                                                {"--listen", "0.0.0.0:80"},
                                                {"--listen", "nowhere"},
                                                {"--threads", "0"},
                                                {"--unknown"}}) {
    auto all = flags;
    all.insert(all.begin(), "sandbox");
    INFO(flags.front());
    const auto end = run(SLUICE_BINARY, all);
    CHECK(end.code == 2);
    CHECK(has(end.err, "sluice: "));
  }
  CHECK(has(run(SLUICE_BINARY, {"sandbox", "--help"}).out, "--gateway-down-after"));
}
