#pragma once

#include "base/error.hpp"
#include "bench/ledger.hpp"
#include "bench/measure.hpp"

#include <cstdint>
#include <functional>
#include <string>

/// `sluice bench kill`: the real node, loaded over HTTP, killed with -9 at random times, started
/// again on what it left, and in the end checked from outside.
namespace sluice::bench {

struct kill_options {
  std::string data_dir;
  std::uint32_t rounds = 200;
  std::uint64_t seed = 1;
  std::uint32_t life_ms_max = 250; ///< a node lives between 1 ms and this
};

struct kill_result {
  std::uint64_t kills = 0;
  std::uint64_t unready = 0;   ///< of them before the node was ready
  std::uint64_t requested = 0; ///< runs whose request was acknowledged
  std::uint64_t missing = 0;   ///< of them not there in the end
  std::uint64_t wrong = 0;     ///< ended with another result than they should
  ledger_verdict calls;
  std::uint64_t journal_problems = 0; ///< what `journal verify` found
  double seconds = 0;

  [[nodiscard]] bool good() const noexcept {
    return missing == 0 && wrong == 0 && calls.lost == 0 && calls.skipped == 0 && calls.twice == 0
           && calls.bad_keys == 0 && journal_problems == 0;
  }
};

[[nodiscard]] result<kill_result>
run_kill_bench(const kill_options& o, const std::function<void(const std::string&)>& progress);

[[nodiscard]] report report_of(const kill_options& o, const kill_result& r);

} // namespace sluice::bench
