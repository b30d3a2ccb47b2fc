#include "storage/event_index.hpp"
#include "storage/run_index.hpp"
#include "storage/run_records.hpp"
#include "tests/storage/stores.hpp"

#include <algorithm>
#include <map>
#include <random>

using namespace sluice;
using namespace sluice::testing;

TEST_CASE("run_records: steps in any order are found sorted, the newest of each (I2)") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random{seed};
    run_records records{1};
    std::map<std::uint32_t, std::uint64_t> newest;
    std::vector<std::uint64_t> replaced;
    const auto spread = 1 + random() % 2000;
    for (std::uint64_t seq = 2; seq < 1500; ++seq) {
      const auto ordinal = static_cast<std::uint32_t>(seed % 3 == 0 ? seq : random() % spread);
      if (auto old = newest.find(ordinal); old != newest.end()) replaced.push_back(old->second);
      newest[ordinal] = seq;
      records.add(record_role::step, seq, ordinal);
      if (random() % 100 == 0) CHECK(records.steps_from(random() % spread, 5).size() <= 5);
    }
    std::vector<step_place> expected;
    for (auto [ordinal, seq] : newest)
      expected.push_back(step_place::at(ordinal, seq));
    const auto& steps = records.steps();
    CHECK(std::equal(steps.begin(), steps.end(), expected.begin(), expected.end()));
    std::sort(replaced.begin(), replaced.end());
    std::vector<std::uint64_t> others;
    for (const auto& o : records.others()) {
      CHECK(o.role() == record_role::superseded);
      others.push_back(o.seq());
    }
    CHECK(others == replaced);
    auto from = records.steps_from(10, 3);
    auto first = newest.lower_bound(10);
    for (const auto& s : from)
      CHECK(s.ordinal == (first++)->first);
  }
}

TEST_CASE("run_records: a step costs at most sixteen bytes, a run under 300 (I18)") {
  run_records records{1};
  for (std::uint32_t i = 0; i < 1'000'000; ++i)
    records.add(record_role::step, i + 2, i);
  CHECK(records.steps().capacity() * sizeof(step_place) <= 16'000'000);
  // With the node of the hash table, its bucket and the node of the set of numbers.
  CHECK(sizeof(run_records) + sizeof(run_id) + 16 + 16 + 48 < 300);
}

TEST_CASE("run_records: a million steps that come backwards are no disaster (F3)") {
  run_records records{1};
  for (std::uint32_t i = 0; i < 1'000'000; ++i)
    records.add(record_role::step, i + 2, 1'000'000 - i);
  CHECK(records.steps().size() == 1'000'000);
  CHECK(records.steps()[0].ordinal == 1);
}

TEST_CASE("run_index: the oldest live run is known") {
  run_index index;
  CHECK(index.oldest() == run_index::none);
  index.add(make_run(1), run_records{5});
  index.add(make_run(2), run_records{3});
  CHECK(index.oldest() == 3);
  run_index::map created;
  auto* kept = &created.emplace(make_run(3), run_records{9}).first->second;
  index.adopt(created);
  CHECK(index.find(make_run(3)) == kept);
  index.remove(make_run(2));
  index.remove(make_run(2));
  CHECK(index.oldest() == 5);
  CHECK(index.size() == 2);
}

TEST_CASE("event_index: topics are found after a position and forgotten below one") {
  event_index index;
  for (std::uint64_t seq = 1; seq <= 30; ++seq)
    index.add(seq % 3, seq);
  using list = std::vector<std::uint64_t>;
  CHECK(index.find(1, 20) == list{22, 25, 28});
  CHECK(index.find(0, 0).empty());
  CHECK(index.find(7, 0).empty());
  index.prune(26);
  CHECK(index.find(1, 0) == list{28});
  CHECK(index.find(2, 0) == list{26, 29});
  index.add(1, 31);
  CHECK(index.find(1, 0) == list{28, 31});
  index.prune(1000);
  CHECK(index.size() == 0);
  CHECK(index.find(1, 0).empty());
  index.add(1, 1001);
  CHECK(index.find(1, 0) == list{1001});
}
