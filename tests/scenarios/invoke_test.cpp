#include "tests/support/story.hpp"
#include "workflows/errors.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct family {
  catalog flows;
  int child_steps = 0;

  family() {
    flows.add("child", [this](context& ctx, std::uint64_t n) -> task<std::uint64_t> {
      auto work = [&] {
        ++child_steps;
        if (n == 13) throw non_retriable{"unlucky", "not thirteen"};
        return n;
      };
      co_await ctx.step("double", work);
      co_await ctx.sleep("rest", duration{1000});
      co_return 2 * n;
    });
    flows.add("parent", [](context& ctx, std::uint64_t n) -> task<std::uint64_t> {
      auto twice = co_await ctx.invoke<std::uint64_t>("ask-child", "child", n);
      auto work = [] { return 1; };
      co_await ctx.step("after", work);
      co_return twice + 1;
    });
    flows.add("lost", [](context& ctx, std::string to) -> task<std::string> {
      try {
        co_await ctx.invoke<std::uint64_t>("ask", to, std::string{"no number"});
      } catch (const step_failed& e) {
        co_return e.why().code + " " + e.why().step + " " + e.what();
      }
      co_return "?";
    });
  }
};

std::optional<run_id> child_of(const world& w, run_id parent) {
  for (const auto& [id, run] : w.disk->runs)
    if (run.row.parent == parent) return id;
  return {};
}

} // namespace

TEST_CASE("invoke: the child's result comes back (P7)") {
  family f;
  world w{f.flows};
  REQUIRE(w.boot());
  auto run = w.start("parent", "21");
  CHECK(w.look(run->run).waits.front().reason.find("child ") == 0);
  w.pass_time(duration{2000});
  CHECK(w.outcome(run->run)->result.text == "43");
  auto child = child_of(w, run->run);
  REQUIRE(child);
  CHECK(w.row(*child)->status == run_status::completed);
  CHECK(w.row(*child)->correlation == run->correlation);
}

TEST_CASE("invoke: the child's error comes back (P7)") {
  family f;
  world w{f.flows};
  REQUIRE(w.boot());
  auto run = w.start("parent", "13");
  w.pass_time(duration{2000});
  REQUIRE(w.outcome(run->run));
  CHECK(w.outcome(run->run)->status == run_status::failed);
  CHECK(w.outcome(run->run)->error->code == "unlucky");
  CHECK(w.outcome(run->run)->error->step == "ask-child");
}

TEST_CASE("invoke: an unknown workflow or a bad input fails the step (P7)") {
  family f;
  world w{f.flows};
  REQUIRE(w.boot());
  auto lost = w.start("lost", R"("nobody")");
  CHECK(w.outcome(lost->run)->result.text == R"("bad_input ask no workflow is called 'nobody'")");
  auto bad = w.start("lost", R"("child")");
  CHECK(w.outcome(bad->run)->result.text.find("bad_input ask input of child") == 1);
}

TEST_CASE("invoke: cancelling the parent cancels the child (P7, P11)") {
  family f;
  world w{f.flows};
  REQUIRE(w.boot());
  auto run = w.start("parent", "1");
  auto child = child_of(w, run->run);
  REQUIRE(child);
  REQUIRE(w.cancel(run->run));
  CHECK(w.row(run->run)->status == run_status::cancelled);
  CHECK(w.row(*child)->status == run_status::cancelled);
}

TEST_CASE("invoke: cancelling a parked parent cancels the child too (P7, P11)") {
  family f;
  bool changed = false;
  f.flows.add("fickle", [&](context& ctx, std::uint64_t n) -> task<std::uint64_t> {
    if (changed) co_await ctx.sleep("new", duration{1});
    co_return co_await ctx.invoke<std::uint64_t>("ask-child", "child", n);
  });
  world w{f.flows};
  REQUIRE(w.boot());
  auto run = w.start("fickle", "1");
  auto child = child_of(w, run->run);
  w.crash();
  changed = true;
  REQUIRE(w.boot());
  w.settle();
  REQUIRE(w.row(run->run)->status == run_status::parked);
  REQUIRE(w.row(*child)->status == run_status::running);
  REQUIRE(w.cancel(run->run));
  w.settle();
  CHECK(w.row(run->run)->status == run_status::cancelled);
  CHECK(w.row(*child)->status == run_status::cancelled);
}

TEST_CASE("invoke: killed at every message, one child and its result (P7)") {
  family f;
  story s{.flows = f.flows,
          .begin = [](world& w) { request_later(w, keyed_request("parent", "21", "k")); },
          .done = [](const world& w) { return !result_of(w, "k").empty(); },
          .check =
            [](const world& w) {
              CHECK(result_of(w, "k") == "43");
              CHECK(w.disk->runs.size() == 2);
              CHECK(w.events(event_kind::run_ended).size() == 2);
            }};
  CHECK(killed_at_every_message(s) > 30);
}

TEST_CASE("invoke: a parent killed while it is cancelled leaves no child behind (P7, P11)") {
  family f;
  story s{.flows = f.flows,
          .begin =
            [](world& w) {
              request_later(w, keyed_request("parent", "1", "k"));
              run_until(w, [&] { return w.disk->runs.size() == 2; });
              w.ask_with<run_stopped>(w.core().admission, cancel_run{*run_of(w, "k"), "enough"},
                                      [](const result<run_stopped>&) {});
            },
          .done =
            [](const world& w) {
              if (w.disk->runs.size() != 2) return false;
              return std::all_of(w.disk->runs.begin(), w.disk->runs.end(),
                                 [](const auto& r) { return is_terminal(r.second.row.status); });
            },
          .check =
            [](const world& w) {
              const auto parent = w.row(*run_of(w, "k"))->status;
              const auto child = w.row(*child_of(w, *run_of(w, "k")))->status;
              CHECK(parent == run_status::cancelled);
              CHECK(child == run_status::cancelled);
            }};
  CHECK(killed_at_every_message(s) > 5);
}
