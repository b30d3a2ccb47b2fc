#pragma once

#include "base/time.hpp"
#include "tests/simulation/findings.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice::simulation {

/// What happened in one seed, or in many.
struct tally {
  std::uint64_t seeds = 0;
  std::uint64_t messages = 0;
  std::uint64_t commits = 0;
  std::uint64_t boots = 0;
  std::uint64_t runs = 0;
  std::map<std::string, std::uint64_t> faults; ///< by class
  duration virtual_time{};

  void add(const tally& other) {
    seeds += other.seeds;
    messages += other.messages;
    commits += other.commits;
    boots += other.boots;
    runs += other.runs;
    virtual_time += other.virtual_time;
    for (const auto& [name, count] : other.faults)
      faults[name] += count;
  }
};

struct seed_report {
  std::uint64_t seed = 0;
  std::string drawn;                 ///< the options, in a line
  std::vector<std::string> programs; ///< one line each
  std::vector<std::string> story;    ///< what was done to the node, when it is told to note that
  std::optional<finding> broken;
  tally counts;
  std::uint64_t trace = 0;
};

} // namespace sluice::simulation
