#include "tests/storage/stores.hpp"

#include <atomic>
#include <thread>

using namespace sluice;
using namespace sluice::testing;

TEST_CASE("store: one thread reads everything while another writes") {
  hand<lmdb_under_test> s;
  constexpr std::uint64_t runs = 60;
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> begun = 0;
  std::atomic<std::uint64_t> trouble = 0;
  std::thread reader{[&] {
    auto check = [&](bool good) { trouble += good ? 0U : 1U; };
    while (!done) {
      std::vector<run_id> known;
      for (std::uint64_t n = 0; n < begun; ++n)
        known.push_back(make_run(n));
      auto page = s->load_steps(0, known, {}, 100'000);
      check(page.engaged());
      for (std::size_t n = 0; page && n < page->runs.size(); ++n) {
        const auto& memo = page->runs[n];
        check(!memo.corrupt);
        // Each commit writes two steps of a run: half of one is never seen.
        check(memo.steps.size() % 2 == 0);
        check(memo.steps.empty() || memo.steps.back().ordinal + 1 == memo.steps.size());
      }
      check(s->load_runs(0, std::nullopt, 1000).engaged());
      check(s->due(0, from_millis(1'000'000), 1000).engaged());
      check(s->find_events(0, "tick", "t", 0, 1000).engaged());
      check(s->read_events(0, 0, 1000).engaged());
      check(s->query("acme", {}, std::nullopt, 100).engaged());
      check(s->stats().corrupt_records == 0);
      if (!known.empty()) {
        check(s->load_marks(0, known[0]).engaged());
        check(s->run_ends(0, known[0]).engaged());
      }
    }
  }};
  for (std::uint64_t n = 0; n < runs; ++n) {
    const auto run = make_run(n);
    s.must(begin_run(run) + std::vector<op>{set_wake{run, from_millis(5)}});
    ++begun;
    for (std::uint32_t i = 0; i < 20; i += 2) {
      s.must({put_step{step_of(run, i)}, put_step{step_of(run, i + 1)},
              put_event{event_of("tick", "t", run)}, put_marks{run, "u", i, "x"}});
    }
    if (n >= 5) s.must(end_run(make_run(n - 5)));
    if (n >= 10) s.must({trim_run{make_run(n - 10), 100}});
  }
  done = true;
  reader.join();
  CHECK(trouble == 0);
}
