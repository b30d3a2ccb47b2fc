#include "tests/storage/stores.hpp"

using namespace sluice;
using namespace sluice::testing;

#define STORE_TEST(title, tags) TEMPLATE_TEST_CASE(title, tags, lmdb_under_test, memory_under_test)

STORE_TEST("store: a batch moves the head by one and one per logged operation (I5)", "") {
  hand<TestType> s;
  const auto run = make_run(1);
  CHECK(s.grant.head == 0);
  CHECK(s.must(begin_run(run)) == 2);
  CHECK(s.must({put_step{step_of(run, 0)}, put_step{step_of(run, 1)}, set_wake{run, from_millis(5)},
                put_row{table::limit, "k", "v"}})
        == 5);
  CHECK(s.must({}) == 6);
  CHECK(s->stats().head == 6);
  CHECK(s->stats().log_records == 6);
}

STORE_TEST("store: what was committed is there after a restart (I1)", "") {
  hand<TestType> s;
  const auto run = make_run(1);
  const auto head = s.must(begin_run(run, R"({"x":[1,2]})")
                           + std::vector<op>{put_step{step_of(run, 0, "\"result\"")},
                                             set_wake{run, from_millis(1'700'000'050'000)},
                                             put_row{table::circuit, "github", "open"}});
  const auto epoch = s.grant.epoch;
  s.reopen();
  CHECK(s.grant.head == head);
  CHECK(s.grant.epoch > epoch);
  CHECK_FALSE(s.grant.clean);
  auto page = s->load_runs(0, std::nullopt, 10);
  REQUIRE(page.engaged());
  REQUIRE(page->runs.size() == 1);
  const auto& live = page->runs[0];
  CHECK(live.row == row_of(run));
  CHECK(live.wake_at == from_millis(1'700'000'050'000));
  CHECK(live.first_seq == 2);
  CHECK(live.last_result_seq == 3);
  CHECK(live.records == 2);
  CHECK(live.bytes > 0);
  CHECK_FALSE(live.corrupt);
  auto memo = s.memo(run);
  CHECK(memo.input == R"({"x":[1,2]})");
  REQUIRE(memo.steps.size() == 1);
  CHECK(memo.steps[0] == step_of(run, 0, "\"result\""));
  CHECK(s->load(table::circuit, 0, "", "", 10)->at(0).value == "open");
}

STORE_TEST("store: an ordered shutdown is seen once (4.7)", "") {
  hand<TestType> s;
  s.must({put_row{table::node, "clean", "true"}});
  s.reopen();
  CHECK(s.grant.clean);
  s.reopen();
  CHECK_FALSE(s.grant.clean);
}

STORE_TEST("store: batches are judged one by one, in order", "") {
  hand<TestType> s;
  const auto run = make_run(1);
  s.must(begin_run(run));
  auto good = s.next({put_step{step_of(run, 0)}});
  auto stale = s.next({put_step{step_of(run, 1)}});
  auto fenced = s.next({});
  fenced.epoch += 1;
  auto second = s.next({put_step{step_of(run, 2)}});
  second.expected_head += 2;
  auto foreign = s.next({put_step{step_of(make_run(9), 0)}});
  foreign.expected_head = second.expected_head + 2;
  s->submit({good, stale, fenced, second, foreign});
  auto done = s->finished(duration{0});
  REQUIRE(done.size() == 5);
  CHECK(done[0].status == commit_status::committed);
  CHECK(done[1].status == commit_status::conflict);
  CHECK(done[2].status == commit_status::fenced);
  CHECK(done[3].status == commit_status::committed);
  CHECK(done[3].head == second.expected_head + 2);
  CHECK(done[4].status == commit_status::failed);
  CHECK(done[4].detail.find("unknown run") != std::string::npos);
  auto memo = s.memo(run);
  REQUIRE(memo.steps.size() == 2);
  CHECK(memo.steps[0].ordinal == 0);
  CHECK(memo.steps[1].ordinal == 2);
}

STORE_TEST("store: a batch that breaks a rule leaves nothing behind (I6)", "") {
  hand<TestType> s;
  const auto run = make_run(1);
  const auto other = make_run(2);
  s.must(begin_run(run, "{}", "key-1"));
  const auto before = s->stats();
  const std::vector<op> good{put_step{step_of(run, 0)}, put_row{table::limit, "k", "v"},
                             set_wake{run, from_millis(7)}};
  auto refused = [&](std::vector<op> bad) {
    auto answer = s.commit(good + std::move(bad));
    CHECK(answer.status == commit_status::failed);
    CHECK(answer.head == before.head);
    return answer.detail;
  };
  CHECK(refused({put_step{step_of(other, 0)}}).starts_with("unknown run"));
  CHECK(refused({put_run{row_of(other)}}).starts_with("unknown run"));
  CHECK(refused({set_wake{other, from_millis(1)}}).starts_with("unknown run"));
  CHECK(refused({put_marks{other, "u", 1, "x"}}).starts_with("unknown run"));
  CHECK(refused(begin_run(run)).starts_with("run requested twice"));
  CHECK(refused({put_event{event_of(event_kind::run_requested, "", other)}})
          .starts_with("a run begins without its row"));
  CHECK(refused({put_event{event_of("x", "", {}, "key-1")}}).starts_with("idempotency key"));
  CHECK(refused({put_row{table::limit, std::string(401, 'k'), "v"}}).starts_with("key too long"));
  CHECK(refused({put_row{table::limit, "", "v"}}).starts_with("a row without"));
  CHECK(refused({put_event{event_of("x", "", other)}}).starts_with("unknown run"));
  CHECK(s->stats().log_records == before.log_records);
  CHECK(s.memo(run).steps.empty());
  CHECK(s->load(table::limit, 0, "", "", 10)->empty());
  CHECK(s->due(0, from_millis(100), 10)->empty());
  s.must(good);
  CHECK(s.memo(run).steps.size() == 1);
}

STORE_TEST("store: a terminal run never changes (I22)", "") {
  hand<TestType> s;
  const auto run = make_run(1);
  s.must(begin_run(run) + std::vector<op>{set_wake{run, from_millis(9)}});
  s.must({put_step{step_of(run, 0)}});
  s.must(end_run(run));
  for (int round = 0; round < 2; ++round) {
    CHECK(s.commit({put_run{row_of(run)}}).status == commit_status::failed);
    CHECK(s.commit({put_run{row_of(run, run_status::completed)}}).status == commit_status::failed);
    CHECK(s.commit({put_step{step_of(run, 1)}}).status == commit_status::failed);
    CHECK(s.commit({put_marks{run, "u", 1, "x"}}).status == commit_status::failed);
    CHECK(s.commit({put_event{event_of("x", "", run)}}).status == commit_status::failed);
    CHECK(s.commit({set_wake{run, from_millis(5)}}).status == commit_status::failed);
    CHECK(s.commit(begin_run(run)).status == commit_status::failed);
    CHECK(s->load_runs(0, std::nullopt, 10)->runs.empty());
    CHECK(s->due(0, from_millis(100), 10)->empty());
    CHECK(s->find_run(0, run)->value() == row_of(run, run_status::completed));
    REQUIRE(s.memo(run).steps.size() == 1);
    s.reopen();
  }
  const auto second = make_run(2);
  auto twice = begin_run(second) + end_run(second)
               + std::vector<op>{put_run{row_of(second, run_status::running)}};
  CHECK(s.commit(twice).status == commit_status::failed);
}

STORE_TEST("store: the newest record of an ordinal is its row (I2)", "") {
  hand<TestType> s;
  const auto run = make_run(1);
  s.must(begin_run(run));
  s.must({put_step{step_of(run, 5, "5")}, put_step{step_of(run, 1, "1")},
          put_step{step_of(run, 3, "w", step_status::waiting)}});
  s.must({put_step{step_of(run, 3, "3")}, put_step{step_of(run, 0, "0")}});
  step_record version = step_of(run, no_ordinal, "2");
  version.kind = step_kind::version;
  s.must({put_step{version}});
  auto check = [&] {
    for (std::size_t limit : {1U, 2U, 3U, 100U}) {
      auto memo = s.memo(run, limit);
      REQUIRE(memo.steps.size() == 4);
      CHECK(memo.steps[0].payload == "0");
      CHECK(memo.steps[1].payload == "1");
      CHECK(memo.steps[2].payload == "3");
      CHECK(memo.steps[3].payload == "5");
      REQUIRE(memo.versions.size() == 1);
      CHECK(memo.versions[0] == version);
    }
  };
  check();
  s.reopen();
  check();
  s.must(end_run(run));
  check();
}

STORE_TEST("store: memos of many runs come in the order asked for, in pages", "") {
  hand<TestType> s;
  std::vector<run_id> runs;
  for (std::uint64_t n = 0; n < 7; ++n) {
    runs.push_back(make_run(n));
    s.must(begin_run(runs.back(), std::to_string(n)));
  }
  for (std::uint32_t ordinal = 0; ordinal < 5; ++ordinal) {
    std::vector<op> ops;
    for (std::size_t n = 0; n < runs.size(); n += 2) {
      ops.push_back(put_step{step_of(runs[n], ordinal, std::to_string(n))});
    }
    s.must(ops);
  }
  s.must(end_run(runs[2]));
  std::vector<run_id> asked{runs[6], make_run(99), runs[1], runs[2], runs[0], runs[4]};
  for (std::size_t limit : {1U, 2U, 4U, 5U, 6U, 1000U}) {
    auto memos = s.memos(asked, limit);
    REQUIRE(memos.size() == asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i)
      CHECK(memos[i].run == asked[i]);
    CHECK(memos[0].input == "6");
    CHECK(memos[1].input.empty());
    CHECK(memos[1].steps.empty());
    CHECK(memos[2].steps.empty());
    CHECK(memos[2].input == "1");
    for (auto i : {0, 3, 4, 5}) {
      REQUIRE(memos[static_cast<std::size_t>(i)].steps.size() == 5);
      CHECK(memos[static_cast<std::size_t>(i)].steps[4].ordinal == 4);
    }
  }
}

STORE_TEST("store: live runs are found by id, in pages", "") {
  hand<TestType> s;
  std::vector<run_id> runs;
  for (std::uint64_t n = 0; n < 5; ++n)
    runs.push_back(make_run(n));
  for (auto n : {3, 0, 4, 1, 2})
    s.must(begin_run(runs[static_cast<std::size_t>(n)]));
  s.must(end_run(runs[1]));
  for (std::size_t limit : {1U, 2U, 4U, 10U}) {
    std::vector<run_id> found;
    std::optional<run_id> after;
    do {
      auto page = s->load_runs(0, after, limit);
      REQUIRE(page.engaged());
      CHECK(page->runs.size() <= limit);
      for (auto& r : page->runs)
        found.push_back(r.row.id);
      after = page->next;
    } while (after);
    CHECK(found == std::vector{runs[0], runs[2], runs[3], runs[4]});
  }
}

STORE_TEST("store: the newest wake-up of a run holds, earliest first (F6)", "") {
  hand<TestType> s;
  const auto a = make_run(1);
  const auto b = make_run(2);
  const auto c = make_run(3);
  s.must(begin_run(a) + begin_run(b) + begin_run(c));
  s.must(
    {set_wake{a, from_millis(100)}, set_wake{b, from_millis(50)}, set_wake{c, from_millis(50)}});
  s.must({set_wake{a, from_millis(20)}});
  auto check = [&] {
    auto due = s->due(0, from_millis(50), 10);
    REQUIRE(due->size() == 3);
    CHECK(due->at(0).run == a);
    CHECK(due->at(0).wake_at == from_millis(20));
    CHECK(due->at(1).run == b);
    CHECK(due->at(2).run == c);
    CHECK(s->due(0, from_millis(49), 10)->size() == 1);
    CHECK(s->due(0, from_millis(50), 2)->size() == 2);
  };
  check();
  s.reopen();
  check();
  s.must({set_wake{a, never}, set_wake{b, never}});
  CHECK(s->due(0, from_millis(1000), 10)->size() == 1);
}

STORE_TEST("store: events are found by position, topic and key", "") {
  hand<TestType> s;
  const auto run = make_run(1);
  s.must({put_event{event_of("order.approved", "1")}});
  s.must(begin_run(run, "{}", "request-1"));
  const auto at = s.grant.head;
  s.must({put_event{event_of("order.approved", "1", {}, std::string(600, 'k'))},
          put_event{event_of("order.approved", "2", run)},
          put_event{event_of(event_kind::step_failed, "1", run)},
          put_event{event_of("order.approved", "1", run)}});
  auto check = [&] {
    auto found = s->find_events(0, "order.approved", "1", 0, 10);
    REQUIRE(found.engaged());
    REQUIRE(found->size() == 2);
    CHECK(found->at(0).seq == at + 2);
    CHECK(found->at(1).seq == at + 5);
    CHECK(found->at(1).run == run);
    CHECK(s->find_events(0, "order.approved", "1", at + 2, 10)->size() == 1);
    CHECK(s->find_events(0, "order.approved", "1", 0, 1)->size() == 1);
    CHECK(s->find_events(0, "order.approved", "3", 0, 10)->empty());
    CHECK(s->find_events(0, event_kind::step_failed, "1", 0, 10)->empty());
    CHECK(s->read_events(0, 0, 100)->size() == 6);
    CHECK(s->read_events(0, at, 2)->at(1).subject == "2");
    auto keyed = s->find_event(0, "request-1");
    REQUIRE(keyed.engaged());
    REQUIRE(keyed->has_value());
    CHECK((*keyed)->kind == event_kind::run_requested);
    CHECK((*keyed)->seq == 4);
    CHECK((*keyed)->data == "{}");
    CHECK(s->find_event(0, std::string(600, 'k'))->has_value());
    CHECK_FALSE(s->find_event(0, std::string(601, 'k'))->has_value());
    CHECK_FALSE(s->find_event(0, "")->has_value());
  };
  check();
  s.reopen();
  check();
  CHECK(s->run_ends(0, run)->size() == 1);
  s.must(end_run(run));
  auto ends = s->run_ends(0, run);
  REQUIRE(ends->size() == 2);
  CHECK(ends->at(0).kind == event_kind::run_requested);
  CHECK(ends->at(1).kind == event_kind::run_ended);
  CHECK(s->find_events(0, "order.approved", "1", 0, 10)->empty());
}

STORE_TEST("store: the newest marks of a page hold", "") {
  hand<TestType> s;
  const auto run = make_run(1);
  s.must(begin_run(run));
  s.must({put_marks{run, "issue", 1, "\x01"}, put_marks{run, "issue", 2, "\x02"}});
  s.must({put_marks{run, "issue", 1, "\x03"}, put_marks{run, "pull", 1, std::string("\0\x07", 2)}});
  auto check = [&] {
    auto marks = s->load_marks(0, run);
    REQUIRE(marks.engaged());
    CHECK(*marks
          == std::vector<put_marks>{{run, "issue", 1, "\x03"},
                                    {run, "issue", 2, "\x02"},
                                    {run, "pull", 1, std::string("\0\x07", 2)}});
  };
  check();
  s.reopen();
  check();
  CHECK(s->load_runs(0, std::nullopt, 1)->runs[0].last_result_seq == s.grant.head);
  s.must(end_run(run));
  check();
}

STORE_TEST("store: runs are queried by tenant, newest first (I25)", "") {
  hand<TestType> s;
  for (std::uint64_t n = 0; n < 6; ++n) {
    auto row = row_of(make_run(n), n % 2 == 0 ? run_status::completed : run_status::running);
    row.tenant = n < 3 ? "acme" : "other";
    row.workflow = n == 4 ? "sync" : "backfill";
    s.must({put_event{event_of(event_kind::run_requested, "", row.id)}, put_run{row}});
  }
  auto ask = [&](std::string_view tenant, const run_filter& f) {
    std::vector<std::uint64_t> found;
    std::optional<run_id> before;
    do {
      auto page = s->query(tenant, f, before, 2);
      REQUIRE(page.engaged());
      for (auto& r : page->runs) {
        for (std::uint64_t n = 0; n < 6; ++n) {
          if (r.id == make_run(n)) found.push_back(n);
        }
      }
      before = page->next;
    } while (before);
    return found;
  };
  using list = std::vector<std::uint64_t>;
  CHECK(ask("", {}) == list{5, 4, 3, 2, 1, 0});
  CHECK(ask("acme", {}) == list{2, 1, 0});
  CHECK(ask("nobody", {}).empty());
  run_filter f;
  f.status = run_status::completed;
  CHECK(ask("", f) == list{4, 2, 0});
  f.workflow = "sync";
  CHECK(ask("", f) == list{4});
  f = {};
  f.ended_before = from_millis(1'700'000'100'001);
  CHECK(ask("", f) == list{4, 2, 0});
  f.ended_before = from_millis(1'700'000'100'000);
  CHECK(ask("", f).empty());
}

STORE_TEST("store: rows of small tables are found by prefix", "") {
  hand<TestType> s;
  s.must({put_row{table::sent, "a1", "1"}, put_row{table::sent, "a2", std::string("\0x", 2)},
          put_row{table::sent, "b1", ""}, put_row{table::dlq, "a1", "other"}});
  s.must({put_row{table::sent, "a1", "new"}, del_row{table::sent, "zz"}});
  CHECK(s->load(table::sent, 0, "a", "", 10)->size() == 2);
  CHECK(s->load(table::sent, 0, "a", "a1", 10)->at(0).key == "a2");
  CHECK(s->load(table::sent, 0, "a", "a2", 10)->empty());
  CHECK(s->load(table::sent, 0, "", "", 2)->size() == 2);
  CHECK(s->load(table::sent, 0, "a1", "", 2)->at(0).value == "new");
  CHECK(s->load(table::sent, 0, "b", "", 2)->at(0).value.empty());
  s.must({del_row{table::sent, "a1"}});
  s.reopen();
  CHECK(s->load(table::sent, 0, "", "", 10)->size() == 2);
}

STORE_TEST("store: an unknown outcome can be asked for (4.4, I21)", "") {
  hand<TestType> s;
  auto first = s.next({put_event{event_of("x", "1")}});
  CHECK(s->probe(0, first.epoch, first.id, first.expected_head) == probe_answer::absent);
  s.commit(first);
  CHECK(s->probe(0, first.epoch, first.id, first.expected_head) == probe_answer::committed);
  auto second = s.next({});
  s.commit(second);
  CHECK(s->probe(0, first.epoch, first.id, first.expected_head) == probe_answer::committed);
  CHECK(s->probe(0, second.epoch, first.id, second.expected_head) == probe_answer::absent);
  CHECK(s->probe(0, second.epoch + 1, second.id, second.expected_head) == probe_answer::fenced);
  CHECK(s->probe(0, second.epoch, second.id, s.grant.head + 1) == probe_answer::regressed);
}
