#include "tests/storage/stores.hpp"

using namespace sluice;
using namespace sluice::testing;

namespace {

struct model {
  hand<memory_under_test> s;
  memory_store& store() { return static_cast<memory_store&>(*s); }
  memory_disk& disk() { return *s.fixture.disk; }
  run_id run = make_run(1);

  model() { s.must(begin_run(run)); }
};

} // namespace

TEST_CASE("memory: a batch can fail before anything is written") {
  model m;
  for (auto [fault, status] : {std::pair{commit_fault::fail, commit_status::failed},
                               std::pair{commit_fault::full, commit_status::full},
                               std::pair{commit_fault::conflict, commit_status::conflict},
                               std::pair{commit_fault::fenced, commit_status::fenced}}) {
    m.store().fault = [f = fault](const batch&) { return f; };
    CHECK(m.s.commit({put_step{step_of(m.run, 0)}}).status == status);
    CHECK(m.s.memo(m.run).steps.empty());
  }
  m.store().fault = nullptr;
  m.s.must({put_step{step_of(m.run, 0)}});
}

TEST_CASE("memory: an unknown outcome is resolved by asking (4.4)") {
  model m;
  const auto b = m.s.next({put_step{step_of(m.run, 0)}});
  m.store().fault = [](const batch&) { return commit_fault::unknown_absent; };
  CHECK(m.s.commit(b).status == commit_status::unknown);
  CHECK(m.s->probe(0, b.epoch, b.id, b.expected_head) == probe_answer::absent);
  m.store().fault = [](const batch&) { return commit_fault::unknown_written; };
  CHECK(m.s.commit(b).status == commit_status::unknown);
  CHECK(m.s->probe(0, b.epoch, b.id, b.expected_head) == probe_answer::committed);
  CHECK(m.s.memo(m.run).steps.size() == 1);
}

TEST_CASE("memory: a slow commit ends after so many polls, a crash before loses it (I1)") {
  model m;
  m.store().slow_polls = 2;
  const auto b = m.s.next({put_step{step_of(m.run, 0)}});
  m.s->submit({b});
  CHECK(m.s->finished(duration{0}).empty());
  CHECK(m.s.memo(m.run).steps.empty());
  CHECK(m.s->finished(duration{0}).empty());
  CHECK(m.s->finished(duration{0}).size() == 1);
  CHECK(m.s.memo(m.run).steps.size() == 1);
  m.s.reopen();
  m.store().slow_polls = 5;
  m.s->submit({m.s.next({put_step{step_of(m.run, 1)}})});
  CHECK(m.s->finished(duration{0}).empty());
  m.s.reopen();
  CHECK(m.s.memo(m.run).steps.size() == 1);
}

TEST_CASE("memory: a newer owner fences the older (I3)") {
  model m;
  const auto old_grant = m.s.grant;
  memory_store newer{m.s.fixture.disk};
  CHECK(newer.open()->epoch == old_grant.epoch + 1);
  CHECK(m.s.commit({put_step{step_of(m.run, 0)}}).status == commit_status::fenced);
  CHECK(m.s->probe(0, old_grant.epoch, {}, old_grant.head) == probe_answer::fenced);
}

TEST_CASE("memory: a lost suffix is noticed (I21, F24)") {
  hand<memory_under_test> s;
  s.fixture.disk->keep_history = true;
  s.must(begin_run(make_run(1)));
  const auto kept = s.grant.head;
  s.must({put_step{step_of(make_run(1), 0)}});
  s.must({put_step{step_of(make_run(1), 1)}});
  s.fixture.disk->lose_suffix(2);
  CHECK(s->stats().head == kept);
  CHECK(s->probe(0, s.grant.epoch, {}, s.grant.head) == probe_answer::regressed);
  CHECK(s.commit({put_step{step_of(make_run(1), 2)}}).status == commit_status::conflict);
  s.reopen();
  CHECK(s.grant.head == kept);
  CHECK(s.memo(make_run(1)).steps.empty());
}

TEST_CASE("memory: a damaged run is seen as such (F23)") {
  model m;
  const auto well = make_run(2);
  m.s.must(begin_run(well) + std::vector<op>{put_step{step_of(m.run, 0)}});
  m.disk().corrupt_record(m.run);
  CHECK(m.s->load_runs(0, std::nullopt, 1)->runs[0].corrupt);
  CHECK(m.s.memo(m.run).corrupt);
  CHECK_FALSE(m.s.memo(well).corrupt);
  m.disk().corrupt_row(well);
  auto page = m.s->load_runs(0, m.run, 1);
  CHECK(page->runs[0].corrupt);
  CHECK(page->runs[0].row.id == well);
  CHECK(code_of(m.s->find_run(0, well).error()) == errc::corrupt);
  m.s.must({put_run{row_of(well, run_status::parked)}});
  CHECK_FALSE(m.s->load_runs(0, m.run, 1)->runs[0].corrupt);
}

TEST_CASE("memory: reads fail on demand (F10)") {
  model m;
  m.store().failing_reads = 2;
  CHECK_FALSE(m.s->load_runs(0, std::nullopt, 1).engaged());
  CHECK(code_of(m.s->due(0, from_millis(1), 1).error()) == errc::storage_failed);
  CHECK(m.s->load_runs(0, std::nullopt, 1).engaged());
}

TEST_CASE("memory: whoever checks invariants sees every commit") {
  model m;
  std::vector<std::uint64_t> heads;
  m.disk().on_commit = [&](const memory_disk& d, const batch&) { heads.push_back(d.head); };
  m.s.must({put_step{step_of(m.run, 0)}});
  m.s.commit({put_step{step_of(make_run(9), 0)}});
  m.s.must({});
  CHECK(heads == std::vector<std::uint64_t>{4, 5});
}
