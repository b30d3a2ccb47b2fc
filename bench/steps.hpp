#pragma once

#include "base/error.hpp"
#include "bench/measure.hpp"

#include <cstdint>
#include <functional>
#include <string>

/// `sluice bench steps`: durable steps per second through the real actors, each step committed
/// before the next of its run begins, beside what the store alone commits.
namespace sluice::bench {

struct steps_options {
  std::string data_dir;
  std::uint32_t runs = 10'000;
  std::uint32_t steps = 10;
  std::uint32_t result_bytes = 120; ///< makes records of about 200 bytes
  std::uint32_t hosts = 2;
  std::uint32_t rounds = 5; ///< engine and store take turns; medians count
};

struct steps_result {
  double steps_per_s = 0;
  double journal_per_s = 0; ///< the store alone, one thread, batches of 1,000 records of 200 B
  double ratio_to_journal = 0;
  double p50_us = 0; ///< from the begin of a step to the begin of the next of its run
  double p99_us = 0;
  double sync_us = 0;
  double bytes_per_step = 0; ///< the journal's file, everything included
  double cpu_us_per_step = 0;
  double rss_mb = 0;
};

[[nodiscard]] result<steps_result>
run_steps_bench(const steps_options& o, const std::function<void(const std::string&)>& progress);

[[nodiscard]] report report_of(const steps_options& o, const steps_result& r);

} // namespace sluice::bench
