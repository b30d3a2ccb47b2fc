#include "tests/storage/stores.hpp"

using namespace sluice;
using namespace sluice::testing;

#define STORE_TEST(title, tags) TEMPLATE_TEST_CASE(title, tags, lmdb_under_test, memory_under_test)

STORE_TEST("trim: an ended run is trimmed in slices (J10, I5)", "") {
  hand<TestType> s;
  const auto run = make_run(1);
  const auto kept = make_run(2);
  s.must(begin_run(run, "{}", "key-1"));
  s.must(begin_run(kept, "{}", "key-2"));
  for (std::uint32_t i = 0; i < 10; ++i)
    s.must({put_step{step_of(run, i)}});
  s.must({put_step{step_of(run, 3, "again")}, put_row{table::cert, to_string(run) + "/issue", "c"},
          put_row{table::cert, to_string(kept) + "/issue", "c"}});
  s.must({trim_run{run, 1000}, trim_run{make_run(77), 1000}});
  CHECK(s.memo(run).steps.size() == 10);
  s.must(end_run(run));
  const auto records = s->stats().log_records;
  s.must({trim_run{run, 4}});
  CHECK(s->stats().log_records == records + 1 - 4);
  auto memo = s.memo(run);
  CHECK(memo.steps.size() == 6);
  CHECK(memo.input == "{}");
  CHECK(s->find_run(0, run)->has_value());
  s.reopen();
  s.must({trim_run{run, 8}});
  CHECK(s->find_event(0, "key-1")->has_value());
  s.must({trim_run{run, 1}});
  CHECK_FALSE(s->find_run(0, run)->has_value());
  CHECK_FALSE(s->find_event(0, "key-1")->has_value());
  CHECK(s->find_event(0, "key-2")->has_value());
  CHECK(s.memo(run).input.empty());
  CHECK(s->load(table::cert, 0, "", "", 10)->size() == 1);
  CHECK(s.memo(kept).input == "{}");
  CHECK(s->stats().runs == 1);
}

STORE_TEST("trim: the log is trimmed up to the first record of a kept run (J10)", "") {
  hand<TestType> s;
  for (int i = 0; i < 5; ++i)
    s.must({put_event{event_of("x", "1", {}, "k" + std::to_string(i))}});
  const auto run = make_run(1);
  s.must(begin_run(run));
  const auto first = s.grant.head;
  s.must({put_event{event_of("x", "1")}});
  s.must({trim_log{5, 1000}});
  CHECK(s->stats().trimmed == 5);
  CHECK_FALSE(s->find_event(0, "k1")->has_value());
  CHECK(s->find_event(0, "k2")->has_value());
  s.must({trim_log{~std::uint64_t{0}, 3}});
  CHECK(s->stats().trimmed == 8);
  s.must({trim_log{~std::uint64_t{0}, 1000}});
  CHECK(s->stats().trimmed == first);
  CHECK(s->read_events(0, 0, 100)->size() == 2);
  s.must(end_run(run));
  s.must({trim_run{run, 1000}});
  s.must({trim_log{~std::uint64_t{0}, 1000}});
  CHECK(s->stats().log_records == 1);
  const auto head = s.grant.head;
  s.reopen();
  CHECK(s.grant.head == head);
  CHECK(s->stats().trimmed == head);
  s.must(begin_run(make_run(3)));
  CHECK(s.memo(make_run(3)).input == "{}");
}
