#include "actors/http_client.hpp"
#include "tests/support/raw_server.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

using namespace sluice;
using namespace sluice::test;

namespace {

struct config : caf::actor_system_config {
  config() { add_message_types<caf::id_block::sluice>(); }
};

/// What a sink was told, by token.
struct answers {
  std::mutex mutex;
  std::condition_variable changed;
  std::multimap<token, http_response> told;

  /// Waits until there are `n`; false after ten seconds.
  bool wait(std::size_t n) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, std::chrono::seconds{10}, [&] { return told.size() >= n; });
  }
};

http_sink::behavior_type sink(http_sink::pointer, answers* into) {
  return {[into](http_answered& a) {
    std::lock_guard lock{into->mutex};
    into->told.emplace(a.id, std::move(a.response));
    into->changed.notify_all();
  }};
}

/// A system with a client; it ends before what the sinks write to.
struct network {
  config cfg;
  caf::actor_system sys{cfg};
  http_client_actor client = sys.spawn(http_client, http::curl_options{});

  ~network() { end_client(); }
  void end_client() { caf::anon_send_exit(client, caf::exit_reason::user_shutdown); }
};

const raw_server::script ok = [](raw_stream& s) {
  while (!s.read_message().empty() && s.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) {
  }
};

const raw_server::script silent = [](raw_stream& s) { s.read_to_end(); };

} // namespace

TEST_CASE("http_client: each sink gets the answers to its own tokens") {
  raw_server server{ok};
  answers a;
  answers b;
  network n;
  auto to_a = n.sys.spawn(sink, &a);
  auto to_b = n.sys.spawn(sink, &b);
  for (token t = 0; t < 1000; ++t) {
    caf::anon_send(n.client, http_send{to_a, t, {.url = server.url("/a")}});
  }
  caf::anon_send(n.client, http_send{to_b, 7, {.url = server.url("/b")}});
  caf::anon_send(n.client, http_send{to_b, 8, {.url = "file:///etc/passwd"}});
  REQUIRE(a.wait(1000));
  REQUIRE(b.wait(2));
  for (token t = 0; t < 1000; ++t)
    CHECK(a.told.count(t) == 1);
  CHECK(b.told.find(7)->second.body == "ok");
  CHECK(!b.told.find(8)->second.error.empty());
}

TEST_CASE("http_client: an abort reaches the request of that sink and token only") {
  raw_server server{silent};
  answers a;
  answers b;
  network n;
  auto to_a = n.sys.spawn(sink, &a);
  auto to_b = n.sys.spawn(sink, &b);
  caf::anon_send(n.client, http_send{to_a, 1, {.url = server.url("/")}});
  caf::anon_send(n.client, http_send{to_a, 2, {.url = server.url("/")}});
  caf::anon_send(n.client, http_send{to_b, 1, {.url = server.url("/")}});
  caf::anon_send(n.client, http_abort{to_a, 1});
  caf::anon_send(n.client, http_abort{to_a, 99});
  REQUIRE(a.wait(1));
  CHECK(a.told.begin()->first == 1);
  CHECK(a.told.begin()->second.aborted);

  caf::scoped_actor me{n.sys};
  actor_card card;
  me->request(n.client, std::chrono::seconds{10}, inspect_atom_v)
    .receive([&](actor_card& c) { card = std::move(c); },
             [&](const caf::error& e) { FAIL(n.sys.render(e)); });
  CHECK(card.kind == "http-client");
  CHECK(card.state == "2 open, 3 so far");
  CHECK(card.waits_for == "the network");
  CHECK(card.handled == 5);
  CHECK(b.told.empty());
}

TEST_CASE("http_client: its end answers whatever is open") {
  raw_server server{silent};
  answers a;
  network n;
  auto to_a = n.sys.spawn(sink, &a);
  for (token t = 0; t < 3; ++t) {
    caf::anon_send(n.client, http_send{to_a, t, {.url = server.url("/")}});
  }
  n.end_client();
  REQUIRE(a.wait(3));
  for (const auto& [t, response] : a.told)
    CHECK(response.aborted);
}
