#pragma once

#include "base/error.hpp"
#include "bench/measure.hpp"

#include <cstdint>
#include <functional>
#include <string>

/// `sluice bench resume` and `sluice bench memory`: what runs cost that wait.
namespace sluice::bench {

using progress_line = std::function<void(const std::string&)>;

struct resume_options {
  std::string data_dir;
  std::uint32_t runs = 100'000;
  std::uint32_t steps = 20;
  std::uint32_t group = 1; ///< so many steps of a run at once
  std::uint32_t result_bytes = 120;
};

struct resume_result {
  double seconds = 0;      ///< from the start of the node to the last run live again
  double open_seconds = 0; ///< of that: opening and scanning the journal
  double runs_per_s = 0;
  double steps_per_s = 0;
  double repeated = 0;               ///< steps that ran again: must be 0
  double loaded_bytes_per_step = 0;  ///< memory of the loading node that no file backs
  double resumed_bytes_per_step = 0; ///< the same of the node that replayed
  double rss_mb = 0;
  double journal_mb = 0;
};

/// Loads runs in a process of its own until each waits, kills that process with -9, and starts a
/// node on what it left. Call before any thread is started.
[[nodiscard]] result<resume_result> run_resume_bench(const resume_options& o,
                                                     const progress_line& progress);

struct memory_options {
  std::string data_dir;
  std::uint32_t runs = 1'000'000;
};

struct memory_result {
  double bytes_per_run = 0; ///< of memory that no file backs
  double rss_mb = 0;
  double peak_rss_mb = 0; ///< pages of the journal included
  double seconds = 0;
};

/// Suspends so many runs, each waiting for an event after its first step.
[[nodiscard]] result<memory_result> run_memory_bench(const memory_options& o,
                                                     const progress_line& progress);

[[nodiscard]] report report_of(const resume_options& o, const resume_result& r);
[[nodiscard]] report report_of(const memory_options& o, const memory_result& r);

} // namespace sluice::bench
