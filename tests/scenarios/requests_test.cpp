#include "tests/support/story.hpp"
#include "workflows/examples.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct desk {
  catalog flows;
  std::unique_ptr<world> w;

  explicit desk(world_options o = {}) {
    add_examples(flows, {});
    w = std::make_unique<world>(flows, o);
    REQUIRE(w->boot());
  }
};

} // namespace

TEST_CASE("requests: one idempotency key is one run, also after a restart and its end (I13)") {
  desk d;
  auto first = d.w->start("example.counter", R"({"steps":2})", "k");
  REQUIRE(first);
  CHECK(!first->existing);
  auto second = d.w->start("example.counter", R"({"steps":2})", "k");
  REQUIRE(second);
  CHECK(second->existing);
  CHECK(second->run == first->run);
  CHECK(second->correlation == first->correlation);
  CHECK(second->status == run_status::completed);
  d.w->crash();
  REQUIRE(d.w->boot());
  CHECK(d.w->start("example.counter", R"({"steps":2})", "k")->run == first->run);
  CHECK(d.w->disk->runs.size() == 1);
}

TEST_CASE("requests: the same key with another body is a conflict") {
  desk d;
  REQUIRE(d.w->start("example.counter", R"({"steps":2})", "k"));
  auto other = d.w->start("example.counter", R"({"steps":3})", "k");
  REQUIRE(!other);
  CHECK(refused(other, errc::conflict));
  CHECK(refused(d.w->start("example.order", R"({"order":"o"})", "k"), errc::conflict));
  CHECK(d.w->disk->runs.size() == 1);
}

TEST_CASE("requests: twins at the same time get the same answer") {
  desk d;
  std::vector<run_id> runs;
  int existing = 0;
  for (int i = 0; i < 5; ++i)
    d.w->ask_with<runs_accepted>(
      d.w->core().event_log,
      request_runs{{keyed_request("example.counter", R"({"steps":2})", "k")}},
      [&](const result<runs_accepted>& r) {
        REQUIRE(r);
        runs.push_back(r->runs.front().run);
        existing += r->runs.front().existing ? 1 : 0;
      });
  d.w->settle();
  REQUIRE(runs.size() == 5);
  for (auto run : runs)
    CHECK(run == runs.front());
  CHECK(existing == 4);
}

TEST_CASE("requests: keys of different tenants do not meet") {
  desk d;
  auto a = keyed_request("example.counter", R"({"steps":2})", "k");
  a.tenant = "a";
  auto b = a;
  b.tenant = "b";
  auto first = d.w->start(a);
  auto second = d.w->start(b);
  REQUIRE(second);
  CHECK(first->run != second->run);
}

TEST_CASE("requests: what cannot be run is refused and leaves nothing behind") {
  world_options o;
  o.input_bytes_max = 100;
  desk d{o};
  CHECK(refused(d.w->start("nobody", "null"), errc::bad_input));
  CHECK(refused(d.w->start("example.counter", R"({"steps":"many"})"), errc::bad_input));
  CHECK(refused(d.w->start("example.counter", R"({"steps":)"), errc::bad_input));
  CHECK(refused(d.w->start("example.order", R"({"order":")" + std::string(200, 'x') + R"("})"),
                errc::too_large));
  CHECK(d.w->disk->runs.empty());
}

TEST_CASE("requests: past the limit of live runs they are refused until one ends (I18)") {
  world_options o;
  o.live_max = 2;
  desk d{o};
  for (const char* order : {"a", "b"})
    REQUIRE(d.w->start("example.order", json::encode(order_input{order, 1, duration{60'000}})));
  auto third = d.w->start("example.counter", R"({"steps":1})");
  REQUIRE(!third);
  CHECK(refused(third, errc::unavailable));
  d.w->pass_time(duration{61'000});
  CHECK(d.w->start("example.counter", R"({"steps":1})"));
}

TEST_CASE("events: one idempotency key is one event; another body is a conflict") {
  desk d;
  auto first = d.w->publish("told", "x", "1", "k");
  REQUIRE(first);
  CHECK(!first->existing);
  auto again = d.w->publish("told", "x", "1", "k");
  REQUIRE(again);
  CHECK(again->existing);
  CHECK(refused(d.w->publish("told", "x", "2", "k"), errc::conflict));
  CHECK(refused(d.w->publish("told", "y", "1", "k"), errc::conflict));
  CHECK(d.w->events("told").size() == 1);
}

TEST_CASE("events: twins are answered when the first is durable, and not before (I1)") {
  desk d;
  int answers = 0;
  std::size_t durable_at_answer = 99;
  for (int i = 0; i < 3; ++i) {
    event e;
    e.kind = "told";
    e.subject = "x";
    e.key = "k";
    d.w->ask_with<event_published>(
      d.w->core().event_log, publish_event{e}, [&](const result<event_published>& r) {
        REQUIRE(r);
        ++answers;
        durable_at_answer = std::min(durable_at_answer, d.w->events("told").size());
      });
  }
  d.w->settle();
  CHECK(answers == 3);
  CHECK(durable_at_answer == 1);
  CHECK(d.w->events("told").size() == 1);
}

TEST_CASE("requests: killed at every message, one key is one run (I1, I13)") {
  catalog flows;
  add_examples(flows, {});
  story s{.flows = flows,
          .begin =
            [](world& w) {
              for (int i = 0; i < 2; ++i)
                request_later(w, keyed_request("example.counter", R"({"steps":2})", "k"));
            },
          .done = [](const world& w) { return !result_of(w, "k").empty(); },
          .check = [](const world& w) { CHECK(w.disk->runs.size() == 1); }};
  CHECK(killed_at_every_message(s) > 15);
}
