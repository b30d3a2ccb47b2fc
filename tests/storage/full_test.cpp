#include "storage/inspect.hpp"
#include "storage/lmdb.hpp"
#include "tests/storage/stores.hpp"

#include <csignal>
#include <sys/mount.h>
#include <sys/resource.h>

using namespace sluice;
using namespace sluice::testing;

namespace {

constexpr std::size_t mib = 1U << 20;

std::vector<op> steps(const run_id& run, std::uint32_t from, std::uint32_t count,
                      std::size_t bytes) {
  std::vector<op> ops;
  for (std::uint32_t i = 0; i < count; ++i) {
    ops.push_back(put_step{step_of(run, from + i, std::string(bytes, 'x'))});
  }
  return ops;
}

/// Writes until the store is full; gives the number of batches that are durable.
template <class Hand>
std::uint32_t fill(Hand& s, const run_id& run, std::uint32_t batches_max = 100'000) {
  for (std::uint32_t n = 0; n < batches_max; ++n) {
    auto answer = s.commit(steps(run, n * 10, 10, 500));
    if (answer.status == commit_status::committed) continue;
    INFO(answer.detail);
    REQUIRE(answer.status == commit_status::full);
    REQUIRE(answer.head == s.grant.head);
    return n;
  }
  FAIL("the store never was full");
  return 0;
}

/// A store that is full keeps what it has, refuses the rest, and works again after a trim.
template <class Hand>
void check_full_and_back(Hand& s) {
  const auto old = make_run(1);
  const auto run = make_run(2);
  s.must(begin_run(old));
  s.must(steps(old, 0, 300, 500));
  s.must(end_run(old));
  s.must(begin_run(run));
  const auto batches = fill(s, run);
  REQUIRE(batches > 0);
  CHECK(s.commit(steps(run, 0, 10, 500)).status == commit_status::full);
  CHECK(s.memo(run, 100'000).steps.size() == batches * 10);
  s.reopen();
  CHECK(s.memo(run, 100'000).steps.size() == batches * 10);
  CHECK(s.memo(old, 100'000).steps.size() == 300);
  while (s->find_run(0, old)->has_value())
    s.must({trim_run{old, 50}});
  // Pages that a commit freed can be used two commits later.
  s.must({trim_log{1, 1}});
  s.must({trim_log{1, 1}});
  s.must(steps(run, batches * 10, 10, 500));
  CHECK(s.memo(run, 100'000).steps.size() == batches * 10 + 10);
}

} // namespace

TEST_CASE("full: a full map loses nothing, trims still work, then it goes on (I19, F21)") {
  hand<lmdb_under_test> s;
  s.fixture.options.map_bytes = 2 * mib;
  s.fixture.options.reserve_bytes = mib / 2;
  s.reopen();
  check_full_and_back(s);
  s.close();
  CHECK(verify_journal(s.fixture.options.path)->good());
}

TEST_CASE("full: the model has a quota (I19)") {
  hand<memory_under_test> s;
  s.fixture.disk->quota_bytes = mib;
  check_full_and_back(s);
}

TEST_CASE("full: a map without reserve refuses in the middle of a commit (I19)") {
  hand<lmdb_under_test> s;
  s.fixture.options.map_bytes = mib;
  s.reopen();
  const auto run = make_run(1);
  s.must(begin_run(run));
  const auto batches = fill(s, run);
  // The index in memory must be as it was before: memory and disk agree.
  const auto in_memory = s.memo(run, 100'000).steps;
  CHECK(in_memory.size() == batches * 10);
  const auto facts = s->load_runs(0, std::nullopt, 1)->runs.at(0);
  s.fixture.options.map_bytes = 4 * mib;
  s.reopen();
  CHECK(s.memo(run, 100'000).steps == in_memory);
  const auto reread = s->load_runs(0, std::nullopt, 1)->runs.at(0);
  CHECK(facts.records == reread.records);
  CHECK(facts.bytes == reread.bytes);
  CHECK(facts.last_result_seq == reread.last_result_seq);
  s.must(steps(run, batches * 10, 10, 500));
}

TEST_CASE("full: every batch of a submit that finds no room is told so (I19, I6)") {
  hand<lmdb_under_test> s;
  s.fixture.options.map_bytes = mib;
  s.reopen();
  const auto run = make_run(1);
  s.must(begin_run(run));
  auto small = s.next(steps(run, 0, 1, 100));
  auto stale = s.next({});
  stale.expected_head += 77;
  auto large = s.next(steps(run, 1, 20, 100'000));
  large.expected_head += 2;
  auto after = s.next({});
  after.expected_head = large.expected_head + 21;
  s->submit({small, stale, large, after});
  const auto done = s->finished(duration{0});
  REQUIRE(done.size() == 4);
  CHECK(done[0].status == commit_status::full);
  CHECK(done[1].status == commit_status::conflict);
  CHECK(done[2].status == commit_status::full);
  CHECK(done[3].status == commit_status::full);
  CHECK(s.memo(run).steps.empty());
  CHECK(s->stats().head == s.grant.head);
  s.must(steps(run, 0, 1, 100));
}

TEST_CASE("full: with less room than the reserve only trims are written (I19)") {
  hand<lmdb_under_test> s;
  const auto run = make_run(1);
  s.must(begin_run(run) + end_run(run));
  s.fixture.options.reserve_bytes = ~std::uint64_t{0} / 2;
  s.reopen();
  const auto answer = s.commit({put_row{table::limit, "k", "v"}});
  CHECK(answer.status == commit_status::full);
  s.must({trim_run{run, 1}});
  s.must({del_row{table::limit, "k"}, trim_log{~std::uint64_t{0}, 10}});
  s.fixture.options.reserve_bytes = 0;
  s.reopen();
  s.must({put_row{table::limit, "k", "v"}});
}

TEST_CASE("full: a small disk fills and drains (I19, F21)") {
  temp_folder temp;
  const auto disk = temp.path() + "/disk";
  std::filesystem::create_directory(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=4m") != 0) {
    WARN("skipped: no right to mount a small disk");
    return;
  }
  {
    hand<lmdb_under_test> s;
    s.fixture.options.path = disk + "/journal";
    s.reopen();
    const auto run = make_run(1);
    s.must(begin_run(run));
    const auto batches = fill(s, run);
    CHECK(s.memo(run, 100'000).steps.size() == batches * 10);
    // Somebody makes the disk larger: it works again by itself, without repair or restart.
    REQUIRE(::mount("none", disk.c_str(), "tmpfs", MS_REMOUNT, "size=16m") == 0);
    s.must(steps(run, batches * 10, 10, 500));
    s.reopen();
    CHECK(s.memo(run, 100'000).steps.size() == batches * 10 + 10);
    s.close();
    CHECK(verify_journal(disk + "/journal")->good());
  }
  CHECK(::umount(disk.c_str()) == 0);
}

TEST_CASE("full: retention gives space back to new writes (J10)") {
  hand<lmdb_under_test> s;
  auto cycle = [&](std::uint64_t n) {
    const auto run = make_run(n);
    s.must(begin_run(run));
    for (std::uint32_t i = 0; i < 20; ++i)
      s.must(steps(run, i * 50, 50, 400));
    s.must(end_run(run));
    while (s->find_run(0, run)->has_value())
      s.must({trim_run{run, 200}});
    s.must({trim_log{s.grant.head, 1000}});
  };
  for (std::uint64_t n = 0; n < 3; ++n)
    cycle(n);
  const auto before = s->stats();
  for (std::uint64_t n = 3; n < 12; ++n)
    cycle(n);
  const auto after = s->stats();
  CHECK(after.file_bytes <= before.file_bytes + before.file_bytes / 10);
  CHECK(after.used_bytes <= before.used_bytes + 8 * 4096);
}

TEST_CASE("commit: after a failure that is not for room the store refuses everything (F22)") {
  hand<lmdb_under_test> s;
  const auto run = make_run(1);
  s.must(begin_run(run));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight{s->stats().file_bytes, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const auto failed = s.commit(steps(run, 0, 100, 1000));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, old);
  CHECK(failed.status == commit_status::failed);
  CHECK_FALSE(failed.detail.empty());
  CHECK(s.memo(run).steps.empty());
  CHECK(s.commit(steps(run, 0, 1, 10)).status == commit_status::failed);
  s.reopen();
  CHECK(s.memo(run).steps.empty());
  s.must(steps(run, 0, 1, 10));
}
