#include "http/live_body.hpp"
#include "tests/api/backfills.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

/// A client of a stream.
struct watcher {
  std::shared_ptr<std::optional<http::response>> place;

  watcher(api_world& world, const char* run)
    : place{world.send({"GET", "/runs/" + std::string{run} + "/events", {}, {}})} {
    world.settle();
  }

  [[nodiscard]] http::live_body& body() const { return *(*place)->live; }
  /// What came since the last call.
  [[nodiscard]] std::string said() const { return body().take().bytes; }
};

struct watched {
  api_world world;
  backfills store;
  std::size_t looks = 0;

  explicit watched(api::api_config config = {}) : world{std::move(config)} {
    store.add(first_run, run_status::running);
    store.put(first_run, a_unit("1", "issue", run_status::running));
    store.put(first_run, a_unit("2", "issue", run_status::running));
    store.serve(world.does);
    auto find = world.does.find;
    world.does.find = [this, find](const find_run& q) {
      ++looks;
      return find(q);
    };
    world.does.look = {true, run_status::running, {}, "host 1"};
  }
};

} // namespace

TEST_CASE("stream: a client hears all units, then those that changed (B31)") {
  watched w;
  watcher one{w.world, first_run};
  REQUIRE(*one.place);
  CHECK((*one.place)->status == 200);
  CHECK((*one.place)->content_type == "text/event-stream");
  auto said = one.said();
  CHECK(said.starts_with("event: progress\ndata: {\"runId\":"));
  CHECK(said.ends_with("]}\n\n"));
  CHECK(count(said, R"("unit":)") == 2);

  w.world.pass_time(500ms);
  CHECK(one.said().empty());
  auto unit = a_unit("2", "issue", run_status::running);
  unit.pages = 3;
  w.store.put(first_run, unit);
  w.world.pass_time(500ms);
  said = one.said();
  CHECK(count(said, R"("unit":)") == 1);
  CHECK(count(said, R"("unit":"2~issue")") == 1);
  CHECK(count(said, R"("pagesProcessed":3)") == 1);

  w.world.does.look.waits = {{"fetch", "gate: rate limit", from_millis(1'700'000'060'000)}};
  w.world.pass_time(500ms);
  CHECK(count(one.said(), R"("waiting":{"reason":"gate: rate limit")") == 2);
}

TEST_CASE("stream: it ends with the whole run when that has ended (B31)") {
  watched w;
  watcher one{w.world, first_run};
  CHECK(!one.body().take().last);
  w.store.put(first_run, a_unit("1", "issue", run_status::completed));
  w.store.put(first_run, a_unit("2", "issue", run_status::completed));
  w.store.end(first_run, run_status::completed, {});
  w.world.pass_time(500ms);
  const auto piece = one.body().take();
  CHECK(piece.last);
  CHECK(count(piece.bytes, "event: progress\n") == 1);
  CHECK(count(piece.bytes, "event: completed\ndata: {\"runId\":") == 1);
  // Two units of the last progress; the run and its two units.
  CHECK(count(piece.bytes, R"("certificate":{"balances":true)") == 5);

  // One that comes late hears the same at once.
  watcher late{w.world, first_run};
  const auto all = late.body().take();
  CHECK(all.last);
  CHECK(count(all.bytes, "event: progress\n") == 1);
  CHECK(count(all.bytes, "event: completed\n") == 1);
}

TEST_CASE("stream: clients of a run share one look, and nobody looks when nobody watches") {
  watched w;
  watcher one{w.world, first_run};
  watcher two{w.world, first_run};
  w.looks = 0;
  w.world.pass_time(500ms);
  w.world.pass_time(500ms);
  CHECK(w.looks == 2);
  one.body().close();
  w.world.pass_time(500ms);
  CHECK(w.looks == 3);
  two.body().close();
  w.world.pass_time(500ms);
  w.world.pass_time(500ms);
  CHECK(w.looks == 3);
}

TEST_CASE("stream: a silent one says that it is there, and a slow client is dropped") {
  watched w;
  watcher one{w.world, first_run};
  CHECK(!one.said().empty());
  for (int i = 0; i < 32; ++i)
    w.world.pass_time(500ms);
  CHECK(count(one.said(), ": still here\n\n") == 1);

  // It reads no more, and the units change all the time.
  auto unit = a_unit("1", "issue", run_status::running);
  unit.note = std::string(1024 * 1024, 'x');
  for (int i = 0; i < 9; ++i) {
    unit.pages += 1;
    w.store.put(first_run, unit);
    w.world.pass_time(500ms);
  }
  CHECK(one.body().closed());
  w.looks = 0;
  w.world.pass_time(500ms);
  CHECK(w.looks == 0);
}

TEST_CASE("stream: steps that ended are told in their order, each once") {
  watched w;
  auto step = [](std::uint32_t ordinal, std::string name, step_status status) {
    step_record r;
    r.ordinal = ordinal;
    r.name = std::move(name);
    r.status = status;
    return r;
  };
  std::vector<step_record> steps{step(0, "a", step_status::done),
                                 step(1, "b", step_status::waiting),
                                 step(2, "c", step_status::done)};
  w.world.does.steps = [&](const load_steps& q) -> caf::result<step_page> {
    run_memo memo;
    for (const auto& s : steps) {
      if (!q.after.ordinal || s.ordinal > *q.after.ordinal) memo.steps.push_back(s);
    }
    return step_page{{memo}, {}};
  };
  watcher one{w.world, first_run};
  auto said = one.said();
  CHECK(count(said, "event: log\n") == 1);
  CHECK(count(said, R"("name":"a")") == 1);
  steps[1].status = step_status::failed;
  w.world.pass_time(500ms);
  said = one.said();
  CHECK(count(said, "event: log\n") == 2);
  CHECK(said.find(R"("name":"b")") < said.find(R"("name":"c")"));
  w.world.pass_time(500ms);
  CHECK(one.said().empty());
  watcher late{w.world, first_run};
  CHECK(count(late.said(), "event: log\n") == 3);
}

TEST_CASE("stream: an unknown run is a 404, and there are so many streams at most") {
  api::api_config config;
  config.watchers_max = 1;
  watched w{config};
  CHECK(w.world.ask("GET", "/runs/" + std::string{second_run} + "/events").status == 404);
  CHECK(w.world.ask("GET", "/runs/7/events").status == 404);
  watcher one{w.world, first_run};
  CHECK(w.world.ask("GET", "/runs/" + std::string{first_run} + "/events").status == 503);
  one.body().close();
  w.world.pass_time(500ms);
  CHECK(w.world.ask("GET", "/runs/" + std::string{first_run} + "/events").status == 200);
}

TEST_CASE("stream: an event with line ends keeps its frame") {
  CHECK(api::server_event("x", "a\nb") == "event: x\ndata: a\ndata: b\n\n");
  CHECK(api::server_event("x", "") == "event: x\ndata: \n\n");
}
