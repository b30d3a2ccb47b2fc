#pragma once

#include "base/mutant.hpp"
#include "tests/simulation/report.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace sluice::simulation {

struct campaign_options {
  bool verbose = false;
  bool json = false;
};

/// Many seeds, what they found, and how to see it again. The only part that reads a real clock: for
/// the summary, and to know when the minutes are over.
class campaign {
public:
  explicit campaign(const campaign_options& o);

  /// All of these answer whether every seed passed; they stop at the first that does not.
  bool run_range(std::uint64_t first, std::uint64_t last);
  /// One seed a line; `#` begins a comment.
  bool run_file(const std::string& path);
  bool run_minutes(std::uint64_t minutes, std::uint64_t first);
  /// Was every planted bug caught?
  bool run_mutants();
  void print_summary() const;

private:
  bool run_one(std::uint64_t seed);
  static bool hunt(mutant m, const char* name);

  campaign_options options_;
  tally total_;
  std::chrono::steady_clock::time_point began_;
};

} // namespace sluice::simulation
