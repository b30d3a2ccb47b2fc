#include "tests/support/story.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct office {
  catalog flows;
  int calls = 0; ///< steps that began
  int notes = 0;

  office() {
    flows
      .add("caller",
           [this](context& ctx, std::string) -> task<void> {
             auto call = [&, this]() -> task<int> {
               ++calls;
               http_request r;
               r.url = "http://provider/";
               auto answer = co_await ctx.http(r);
               co_return answer.status;
             };
             for (;;)
               co_await ctx.step("call", call);
           })
      .cancel_on("withdrawn", [](const std::string& in) { return in; });
    flows
      .add("queued",
           [this](context& ctx, std::string) -> task<void> {
             auto note = [this] { ++notes; };
             co_await ctx.step("note", note);
             co_await ctx.wait("hold", "stop", "x");
           })
      .limit(1)
      .cancel_on("withdrawn", [](const std::string& in) { return in; });
    flows.add("quick", [](context& ctx, std::string) -> task<int> {
      auto work = [] { return 1; };
      co_return co_await ctx.step("work", work);
    });
  }
};

http_response ok(const http_request&) {
  http_response r;
  r.status = 200;
  return r;
}

int cancellations(const world& w) {
  return static_cast<int>(w.events(event_kind::run_cancelled).size());
}

} // namespace

TEST_CASE("cancel: the request in flight is aborted, nothing happens after the answer (P11)") {
  office o;
  world w{o.flows};
  w.network = ok;
  REQUIRE(w.boot());
  auto run = w.start("caller", R"("x")");
  w.pass_time(duration{12});
  CHECK(o.calls == 3);
  REQUIRE(w.cancel(run->run, "enough"));
  CHECK(w.requests_aborted == 1);
  CHECK(w.row(run->run)->status == run_status::cancelled);
  CHECK(w.outcome(run->run)->error->message == "enough");
  const auto sent = w.requests_sent;
  const auto records = w.history(run->run).size();
  w.pass_time(duration{60'000});
  CHECK(w.requests_sent == sent);
  CHECK(w.history(run->run).size() == records);
  CHECK(o.calls == 3);
  CHECK(cancellations(w) == 1);
}

TEST_CASE("cancel: an event cancels, also one that came just before the crash (P11)") {
  office o;
  world w{o.flows};
  w.network = ok;
  REQUIRE(w.boot());
  auto run = w.start("caller", R"("x")");
  auto other = w.start("caller", R"("y")");
  w.pass_time(duration{12});
  REQUIRE(w.publish("withdrawn", "x"));
  CHECK(w.row(run->run)->status == run_status::cancelled);
  CHECK(w.row(other->run)->status == run_status::running);
  publish_later(w, "withdrawn", "y", "null", "k");
  REQUIRE(crash_when(w, [&] { return w.events("withdrawn").size() == 2; }));
  const auto calls = o.calls;
  REQUIRE(w.boot());
  w.settle();
  CHECK(w.row(other->run)->status == run_status::cancelled);
  CHECK(o.calls == calls);
}

TEST_CASE("cancel: an event from before the run does not cancel it (P11)") {
  office o;
  world w{o.flows};
  w.network = ok;
  REQUIRE(w.boot());
  REQUIRE(w.publish("withdrawn", "x"));
  auto run = w.start("caller", R"("x")");
  w.pass_time(duration{12});
  CHECK(w.row(run->run)->status == run_status::running);
}

TEST_CASE("cancel: a run that waits for its slot never starts (P11)") {
  office o;
  world w{o.flows};
  REQUIRE(w.boot());
  REQUIRE(w.start("queued", R"("a")"));
  auto asked = w.start("queued", R"("b")");
  auto withdrawn = w.start("queued", R"("c")");
  CHECK(o.notes == 1);
  REQUIRE(w.cancel(asked->run));
  CHECK(w.row(asked->run)->status == run_status::cancelled);
  REQUIRE(w.publish("withdrawn", "c"));
  REQUIRE(w.publish("stop", "x"));
  w.settle();
  CHECK(w.row(withdrawn->run)->status == run_status::cancelled);
  CHECK(o.notes == 1);
  CHECK(w.count().hosted == 0);
}

TEST_CASE("cancel: a parked run ends, a person need not resume it (P11)") {
  office o;
  o.flows.add("endless", [](context& ctx, std::string) -> task<void> {
    auto work = [] { return 1; };
    for (;;)
      co_await ctx.step("again", work);
  });
  world_options options;
  options.limits.steps_max = 5;
  world w{o.flows, options};
  REQUIRE(w.boot());
  auto run = w.start("endless", R"("")");
  REQUIRE(w.row(run->run)->status == run_status::parked);
  REQUIRE(w.cancel(run->run));
  CHECK(w.row(run->run)->status == run_status::cancelled);
  CHECK(w.count().parked == 0);
}

TEST_CASE("cancel: a run whose memo is being loaded does nothing any more (P11, F10)") {
  office o;
  world w{o.flows};
  w.network = ok;
  REQUIRE(w.boot());
  auto run = w.start("caller", R"("x")");
  w.pass_time(duration{12});
  w.crash();
  const auto calls = o.calls;
  // Reads at boot: the throttles, a page of runs; then the memo, which fails.
  w.fail_reads_after_boot = 1;
  REQUIRE(w.boot());
  CHECK(w.count().hosted == 1);
  std::optional<result<run_stopped>> answer;
  w.ask_with<run_stopped>(w.core().admission, cancel_run{run->run, "enough"},
                          [&](result<run_stopped> r) { answer = std::move(r); });
  w.settle();
  CHECK(!answer);
  w.pass_time(duration{2000});
  REQUIRE(answer);
  CHECK(*answer);
  CHECK(o.calls == calls);
  CHECK(w.row(run->run)->status == run_status::cancelled);
  CHECK(cancellations(w) == 1);
}

TEST_CASE("cancel: it races with completion, the first commit wins, both orders (F29, I22)") {
  office o;
  bool cancelled_once = false;
  bool completed_once = false;
  for (std::size_t at = 0; at < 60; ++at) {
    world w{o.flows};
    REQUIRE(w.boot());
    request_later(w, keyed_request("quick", R"("")", "k"));
    REQUIRE(run_until(w, [&] { return run_of(w, "k").has_value(); }));
    for (std::size_t n = 0; n < at; ++n)
      w.run_one(0);
    std::optional<result<run_stopped>> answer;
    w.ask_with<run_stopped>(w.core().admission, cancel_run{*run_of(w, "k"), "enough"},
                            [&](result<run_stopped> r) { answer = std::move(r); });
    w.settle();
    INFO("asked after message " << at);
    REQUIRE(w.death().empty());
    REQUIRE(answer);
    const auto status = w.row(*run_of(w, "k"))->status;
    if (status == run_status::cancelled) {
      CHECK(*answer);
      cancelled_once = true;
    } else {
      // A run that the admission has not heard of yet is unknown to it or in the store.
      CHECK(status == run_status::completed);
      CHECK(!*answer);
      completed_once = true;
    }
    CHECK(w.events(event_kind::run_ended).size() == 1);
  }
  CHECK(cancelled_once);
  CHECK(completed_once);
}

TEST_CASE("cancel: a run that ended or never was is said to be so (F29)") {
  office o;
  world w{o.flows};
  REQUIRE(w.boot());
  auto run = w.start("quick", R"("")");
  auto late = w.cancel(run->run);
  REQUIRE(!late);
  CHECK(refused(late, errc::conflict));
  auto nobody = w.cancel(run_id{uuid{{1}}});
  REQUIRE(!nobody);
  CHECK(refused(nobody, errc::not_found));
}
