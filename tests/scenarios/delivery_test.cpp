#include "tests/support/delivery_desk.hpp"

#include <set>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

TEST_CASE("delivery: every event is posted once, with key, type and time; 409 counts (B15)") {
  delivery_desk d;
  d.status = [](const std::string& id, int) { return id == "a/1/1" ? 409 : 200; };
  d.send(7, d.page(1, 3));
  REQUIRE(d.pass_until_delivered(7));
  const auto& done = d.heard->delivered[7];
  CHECK(bits_in(done.accepted) == 3);
  CHECK(done.refused.empty());
  CHECK(done.sent == 3);
  REQUIRE(d.calls() == 3);
  const auto& first = d.arrivals.front();
  CHECK(first.request.method == "POST");
  CHECK(first.request.url == "http://gateway.test/hooks/webhooks/github");
  CHECK(first.request.body
        == R"({"deliveryId":"a/1/0","payload":{},"receivedAt":)"
             + std::to_string(to_millis(first.at)) + "}");
  std::string key;
  std::string type;
  for (const auto& h : first.request.headers) {
    if (h.name == "X-API-Key" && h.credential) key = h.value;
    if (h.name == "Content-Type") type = h.value;
  }
  CHECK(key == "k-123");
  CHECK(type == "application/json");
  CHECK(d.heard->stalls.empty());
}

TEST_CASE("delivery: the body of an event is freed when it was accepted") {
  delivery_desk d;
  auto p = d.page(1, 30);
  d.send(1, p);
  d.w->pass_time(30ms);
  // Ten were accepted, ten are on their way.
  CHECK(std::ranges::count_if(p->items, [](const parcel& i) { return i.body.empty(); }) == 20);
}

TEST_CASE("delivery: the body of an event that was refused is there again, as it was (B18)") {
  delivery_desk d;
  d.status = [](const std::string& id, int) { return id == "a/1/0" ? 400 : 202; };
  auto p = d.page(1, 2);
  const auto body = p->items[0].body;
  d.send(1, p);
  REQUIRE(d.pass_until_delivered(1));
  CHECK(p->items[0].body == body);
  CHECK(p->items[1].body.empty());
  for (const auto& a : d.arrivals)
    CHECK(a.request.body.find("}}") == std::string::npos);
}

TEST_CASE("delivery: what the journal knows as accepted is not sent again (B16)") {
  delivery_desk d;
  auto p = d.page(1, 10);
  p->accepted = std::string("\xFF\x01", 2);
  d.send(1, p);
  REQUIRE(d.pass_until_delivered(1));
  REQUIRE(d.calls() == 1);
  CHECK(d.arrivals.front().id == "a/1/9");
  CHECK(bits_in(d.heard->delivered[1].accepted) == 10);

  auto all = d.page(2, 8);
  all->accepted = "\xFF";
  d.send(2, all);
  d.w->settle();
  CHECK(d.heard->delivered.contains(2));
  CHECK(d.calls() == 1);
}

TEST_CASE("delivery: ten of a page and thirty in all are under way at once (B15)") {
  delivery_desk d;
  d.send(1, d.page(1, 50));
  d.w->pass_time(200ms);
  CHECK(d.open_most == 10);
  for (token t = 2; t <= 9; ++t)
    d.send(t, d.page(static_cast<std::uint32_t>(t), 50));
  for (token t = 1; t <= 9; ++t)
    REQUIRE(d.pass_until_delivered(t));
  CHECK(d.open_most == 30);
  CHECK(d.calls() == 450);
}

TEST_CASE("delivery: a poison event is refused after three 4xx and the page goes on (B18)") {
  delivery_desk d;
  d.status = [](const std::string& id, int) { return id == "a/1/2" ? 422 : 202; };
  d.send(1, d.page(1, 5));
  REQUIRE(d.pass_until_delivered(1));
  const auto& done = d.heard->delivered[1];
  CHECK(bits_in(done.accepted) == 4);
  REQUIRE(done.refused.size() == 1);
  CHECK(done.refused[0].item == 2);
  CHECK(done.refused[0].attempts == 3);
  CHECK(done.refused[0].status == 422);
  CHECK(done.refused[0].error == "HTTP 422");
  CHECK(d.calls_of("a/1/2") == 3);
  CHECK(done.sent == 7);
}

TEST_CASE("delivery: an event that always fails is refused after ten attempts (B18)") {
  delivery_desk d;
  int others = 0;
  d.status = [](const std::string& id, int) { return id == "a/1/0" ? 500 : 202; };
  d.send(1, d.page(1, 3));
  // Beside it there is always something that the gateway takes.
  while (!d.heard->delivered.contains(1) && others < 1000) {
    d.send(token(100 + others), d.page(static_cast<std::uint32_t>(100 + others), 1));
    ++others;
    d.w->pass_time(500ms);
  }
  REQUIRE(d.heard->delivered.contains(1));
  REQUIRE(d.heard->delivered[1].refused.size() == 1);
  CHECK(d.heard->delivered[1].refused[0].attempts == 10);
  CHECK(d.calls_of("a/1/0") == 10);
  CHECK(d.heard->delivered.size() == 1 + std::size_t(others));
}

TEST_CASE("delivery: an event that fails alone holds the circuit open, but not for ever (B18)") {
  delivery_desk d;
  d.status = [](const std::string& id, int) { return id == "a/1/0" ? 500 : 202; };
  d.send(1, d.page(1, 12));
  REQUIRE(d.pass_until_delivered(1, 1h));
  CHECK(d.heard->delivered[1].refused.size() == 1);
  CHECK(bits_in(d.heard->delivered[1].accepted) == 11);
}

TEST_CASE("delivery: an answer that is lost means the same event again, with the same id (B16)") {
  delivery_desk d;
  d.status = [](const std::string&, int n) { return n == 1 ? 0 : 409; };
  d.send(1, d.page(1, 2));
  REQUIRE(d.pass_until_delivered(1));
  CHECK(d.calls() == 4);
  CHECK(d.calls_of("a/1/0") == 2);
  CHECK(d.calls_of("a/1/1") == 2);
  CHECK(bits_in(d.heard->delivered[1].accepted) == 2);
}

TEST_CASE("delivery: tenants take turns by page (B22)") {
  delivery_desk d;
  for (token t = 1; t <= 150; ++t)
    d.send(t, d.page(static_cast<std::uint32_t>(t), 100, "large"));
  d.w->settle();
  d.send(1000, d.page(1, 1, "small"));
  REQUIRE(d.pass_until_delivered(1000));
  // Three pages of the large tenant were under way, and it came next.
  CHECK(d.heard->delivered.size() <= 4);
  std::vector<std::string> order;
  for (token t = 1; t <= 150; ++t)
    REQUIRE(d.pass_until_delivered(t));
  std::set<std::string> seen;
  for (const auto& a : d.arrivals)
    if (a.id.starts_with("large/") && a.id.ends_with("/0") && seen.insert(a.id).second)
      order.push_back(a.id);
  REQUIRE(order.size() == 150);
  for (std::size_t i = 0; i < order.size(); ++i)
    CHECK(order[i] == "large/" + std::to_string(i + 1) + "/0");
}

TEST_CASE("delivery: an abort stops everything of that page and nothing else (P11)") {
  delivery_desk d;
  d.send(1, d.page(1, 40));
  d.send(2, d.page(2, 40));
  d.w->pass_time(50ms);
  const auto before = d.calls();
  const auto of_first = [&] {
    return std::ranges::count_if(d.arrivals,
                                 [](const auto& a) { return a.id.starts_with("a/1/"); });
  };
  const auto first = of_first();
  CHECK(before > 40);
  d.call_off(1);
  d.call_off(99);
  REQUIRE(d.pass_until_delivered(2));
  d.w->pass_time(5min);
  CHECK(of_first() == first);
  CHECK(d.w->requests_aborted == 10);
  CHECK(!d.heard->delivered.contains(1));
  // What it had accepted until then is in the journal.
  CHECK(bits_in(d.marks()[1]) == 20);
  CHECK(d.w->death().empty());

  d.send(3, d.page(3, 5));
  d.call_off(3); // before anything was answered
  d.w->pass_time(1s);
  CHECK(d.answered.count("a/3/0") == 0);
  CHECK(d.w->requests_aborted == 15);
}

TEST_CASE("delivery: acknowledgements of a run that ended meanwhile harm nobody (P11)") {
  delivery_desk d;
  d.send(1, d.page(1, 40));
  d.w->pass_time(50ms);
  REQUIRE(d.w->cancel(d.run));
  d.call_off(1);
  d.w->pass_time(1s);
  CHECK(is_terminal(d.w->row(d.run)->status));
  CHECK(d.w->death().empty());
}

TEST_CASE("delivery: without a gateway pages wait and say why (B31)") {
  delivery_desk d{world_options{}};
  d.send(1, d.page(1, 1));
  d.w->pass_time(1h);
  CHECK(d.calls() == 0);
  REQUIRE(d.heard->stalls.size() == 1);
  CHECK(d.heard->stalls[0].reason == "no gateway is configured");
}
