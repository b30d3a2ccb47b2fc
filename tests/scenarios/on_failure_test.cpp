#include "tests/support/story.hpp"
#include "workflows/errors.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct cleaning {
  int cleaned = 0;
  std::vector<std::string> recalled;
  std::size_t marks = 0;
} seen;

task<void> clean_up(context& ctx, std::string in, run_end how) {
  auto clean = [&] { return ++seen.cleaned; };
  co_await ctx.step("clean", clean);
  seen.recalled.clear();
  std::optional<std::uint32_t> after;
  do {
    auto part = co_await ctx.recall(after);
    for (const auto& step : part.steps)
      if (step.ordinal < failure_ordinal) seen.recalled.push_back(step.name + " " + step.payload);
    seen.marks = part.marks.size();
    after = part.next;
  } while (after);
  co_await ctx.send("tell", {{"cleaned", in, json::encode(std::string{to_string(how.why)})}});
  co_await ctx.sleep("rest", duration{100});
  co_await ctx.send("tell", {{"cleaned", in, json::encode(how.error.message)}});
}

task<void> doomed(context& ctx, std::string in) {
  auto first = [] { return 1; };
  co_await ctx.step("first", first);
  auto second = [&] {
    if (in == "fail") throw non_retriable{"no", "it failed"};
    return 2;
  };
  co_await ctx.step("second", second);
  co_await ctx.wait("hold", "never", "x");
}

catalog doomed_flows() {
  seen = {};
  catalog flows;
  flows.add("doomed", doomed).finish_within(duration{5000}).on_failure(clean_up);
  return flows;
}

std::string told(const world& w) {
  std::string all;
  for (const auto& e : w.events("cleaned"))
    all += e.data;
  return all;
}

} // namespace

TEST_CASE("on_failure: is told of a failure, and reads the run's memos (P13)") {
  auto flows = doomed_flows();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("doomed", R"("fail")");
  w.settle();
  CHECK(w.row(run->run)->status == run_status::running);
  CHECK(w.row(run->run)->why == ending::failure);
  w.pass_time(duration{1000});
  CHECK(w.row(run->run)->status == run_status::failed);
  CHECK(seen.cleaned == 1);
  CHECK(told(w) == R"("failure""it failed")");
  REQUIRE(seen.recalled.size() == 2);
  CHECK(seen.recalled[0] == "first 1");
}

TEST_CASE("on_failure: is told of a time-out and of a cancel (P13, P11)") {
  auto flows = doomed_flows();
  world w{flows};
  REQUIRE(w.boot());
  auto late = w.start("doomed", R"("late")");
  w.pass_time(duration{5000});
  w.pass_time(duration{1000});
  CHECK(w.row(late->run)->status == run_status::failed);
  CHECK(told(w).find(R"("time_out")") == 0);
  auto cancelled = w.start("doomed", R"("cancel")");
  REQUIRE(w.cancel(cancelled->run, "enough"));
  // Acknowledged before on_failure has ended.
  CHECK(w.row(cancelled->run)->status != run_status::cancelled);
  w.pass_time(duration{1000});
  CHECK(w.row(cancelled->run)->status == run_status::cancelled);
  CHECK(told(w).find(R"("cancel""enough")") != std::string::npos);
  CHECK(seen.cleaned == 2);
}

TEST_CASE("on_failure: not when the run completes (P13)") {
  auto flows = doomed_flows();
  flows
    .add("fine",
         [](context& ctx, std::string) -> task<void> {
           auto work = [] { return 1; };
           co_await ctx.step("work", work);
         })
    .on_failure(clean_up);
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("fine", R"("")");
  CHECK(w.row(run->run)->status == run_status::completed);
  CHECK(seen.cleaned == 0);
}

TEST_CASE("on_failure: its events and the terminal status are one commit (P13)") {
  auto flows = doomed_flows();
  world w{flows};
  bool apart = false;
  w.disk->on_commit = [&](const memory_disk& disk, const batch&) {
    for (const auto& [seq, record] : disk.log) {
      const auto* e = std::get_if<event>(&record.what);
      if (e && e->kind == "cleaned" && !is_terminal(disk.runs.at(e->run).row.status)) apart = true;
    }
  };
  REQUIRE(w.boot());
  REQUIRE(w.start("doomed", R"("fail")"));
  w.pass_time(duration{1000});
  CHECK(w.events("cleaned").size() == 2);
  CHECK(!apart);
}

TEST_CASE("on_failure: killed at every message, it ends once, with its events once (P13)") {
  auto flows = doomed_flows();
  story s{.flows = flows,
          .begin = [](world& w) { request_later(w, keyed_request("doomed", R"("fail")", "k")); },
          .done =
            [](const world& w) {
              auto run = run_of(w, "k");
              return run && is_terminal(w.row(*run)->status);
            },
          .check =
            [](const world& w) {
              CHECK(w.row(*run_of(w, "k"))->status == run_status::failed);
              CHECK(told(w) == R"("failure""it failed")");
              CHECK(w.events(event_kind::run_ended).size() == 1);
              int cleans = 0;
              for (const auto& r : w.history(*run_of(w, "k")))
                if (r.name == "clean" && r.status == step_status::done) ++cleans;
              CHECK(cleans == 1);
            }};
  CHECK(killed_at_every_message(s) > 30);
}

TEST_CASE("on_failure: a pending run that is cancelled has one too (P13, P11)") {
  seen = {};
  catalog flows;
  flows.add("doomed", doomed).limit(1).on_failure(clean_up);
  world w{flows};
  REQUIRE(w.boot());
  REQUIRE(w.start("doomed", R"("first")"));
  auto second = w.start("doomed", R"("second")");
  REQUIRE(w.cancel(second->run, "enough"));
  w.pass_time(duration{1000});
  CHECK(w.row(second->run)->status == run_status::cancelled);
  CHECK(told(w) == R"("cancel""enough")");
  CHECK(seen.recalled.empty());
}

TEST_CASE("on_failure: its own failure is said beside the run's (P13)") {
  catalog flows;
  flows.add("doomed", doomed).on_failure(+[](context& ctx, std::string, run_end) -> task<void> {
    auto fail = [] { throw non_retriable{"worse", "and this failed too"}; };
    co_await ctx.step("clean", fail);
  });
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("doomed", R"("fail")");
  CHECK(w.row(run->run)->status == run_status::failed);
  CHECK(w.outcome(run->run)->error->message == "it failed; on_failure: and this failed too");
}

TEST_CASE("on_failure: marks of the run are there to be read (P13)") {
  auto flows = doomed_flows();
  world w{flows};
  REQUIRE(w.boot());
  auto run = w.start("doomed", R"("wait")");
  append marks;
  marks.ops.push_back(put_marks{run->run, "unit", 1, "\x05"});
  w.tell(w.core().journal, marks);
  w.settle();
  REQUIRE(w.cancel(run->run));
  w.pass_time(duration{1000});
  CHECK(seen.marks == 1);
}
