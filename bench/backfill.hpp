#pragma once

#include "base/error.hpp"
#include "bench/measure.hpp"

#include <cstdint>
#include <functional>
#include <string>

/// `sluice bench backfill`: the real node and a bare curl loop, in turns, against one sandbox.
namespace sluice::bench {

struct backfill_options {
  std::string data_dir;
  std::uint32_t tenants = 1;
  std::uint32_t units = 0; ///< of each tenant; 0: 30 of one tenant, 1 of each of several
  std::uint32_t pages = 20;
  std::uint32_t rounds = 3;

  [[nodiscard]] std::uint32_t units_each() const noexcept {
    return units != 0 ? units : tenants == 1 ? 30 : 1;
  }
  [[nodiscard]] std::uint64_t events() const noexcept {
    return std::uint64_t{tenants} * units_each() * pages * 100;
  }
};

/// Medians over the rounds; sums where it says so.
struct backfill_bench_result {
  double events_per_s = 0;
  double floor_events_per_s = 0;
  double cpu_us = 0; ///< of the node, per event
  double floor_cpu_us = 0;
  double sandbox_cpu_us = 0;    ///< per event, over the node's turns
  double rss_mb = 0;            ///< the node's peak, the largest of all rounds
  std::uint64_t duplicates = 0; ///< of the node, in all rounds
  std::uint64_t missing = 0;    ///< always 0, as `corrupted`: else the bench fails
  std::uint64_t corrupted = 0;
};

/// Fails when a round did not bring every event whole.
[[nodiscard]] result<backfill_bench_result>
run_backfill_bench(const backfill_options& o,
                   const std::function<void(const std::string&)>& progress);

[[nodiscard]] report report_of(const backfill_options& o, const backfill_bench_result& r);

} // namespace sluice::bench
