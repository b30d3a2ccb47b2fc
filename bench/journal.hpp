#pragma once

#include "base/error.hpp"
#include "bench/measure.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

/// `sluice bench journal`: how much of a bare append-and-sync loop the journal keeps.
namespace sluice::bench {

struct journal_options {
  /// Where a folder for the measurement is made; empty: see `bench_folder`. Nothing is left there.
  std::string data_dir;
  /// Each commit holds one record of each producer.
  std::vector<std::size_t> producers{1, 10, 100, 1000};
  /// Per case, shared by journal and bare loop.
  std::chrono::duration<double> per_case{4};
  /// Journal and bare loop take turns so many times; the medians of the turns count.
  std::size_t rounds = 5;
  /// Of a record's payload, and per record in the bare loop.
  std::size_t record_bytes = 200;
};

struct journal_case {
  std::size_t producers = 0;
  double journal_per_s = 0; ///< records
  double bare_per_s = 0;    ///< the same records, appended to a file that grows, then fdatasync
  double ratio = 0;
  double commit_us = 0; ///< of the journal
  double bar = 0;       ///< the least ratio that is good enough; 0: none is set
  [[nodiscard]] bool good() const noexcept { return ratio >= bar; }
};

struct journal_result {
  double sync_us = 0;
  std::vector<journal_case> cases;
  [[nodiscard]] bool good() const noexcept;
};

/// `progress` is called after each case, if it is set.
[[nodiscard]] result<journal_result>
run_journal_bench(const journal_options& o,
                  const std::function<void(const journal_case&)>& progress = {});

/// The names of the figures end in the number of producers.
[[nodiscard]] report report_of(const journal_result& r);

} // namespace sluice::bench
