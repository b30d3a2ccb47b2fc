#include "tests/storage/stores.hpp"

using namespace sluice;
using namespace sluice::testing;

TEST_CASE("store: a long run is read in pages without reading it anew for each (F3)") {
  hand<lmdb_under_test> s;
  const auto run = make_run(1);
  s.must(begin_run(run));
  constexpr std::uint32_t count = 200'000;
  for (std::uint32_t i = 0; i < count; i += 4000) {
    std::vector<op> ops;
    for (std::uint32_t k = 0; k < 4000; ++k) {
      if (k % 2 == 0) ops.push_back(put_step{step_of(run, i + k, "w", step_status::waiting)});
      ops.push_back(put_step{step_of(run, i + k, "1")});
    }
    s.must(ops);
  }
  // 2,000 pages: were each to look at all that lies before it, this would take minutes.
  CHECK(s.memo(run, 100).steps.size() == count);
  s.must(end_run(run));
  CHECK(s.memo(run, 100).steps.size() == count);
  s.reopen();
  CHECK(s.memo(run, 5000).steps.size() == count);
  std::size_t slices = 0;
  for (; s->find_run(0, run)->has_value(); ++slices)
    s.must({trim_run{run, 20'000}});
  CHECK(slices == 16);
  CHECK(s->stats().runs == 0);
}
