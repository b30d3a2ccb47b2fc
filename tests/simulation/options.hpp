#pragma once

#include "base/time.hpp"
#include "tests/simulation/program.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::simulation {

/// Which classes of faults a seed has. Many seeds have few: bugs hide behind other bugs.
struct fault_mix {
  bool crash = false;    ///< at any message, also during recovery and shutdown
  bool shutdown = false; ///< ordered, then a start
  bool death = false;    ///< the store fails for good: the node ends itself (F22)
  bool unknown = false;  ///< commits whose outcome is not told, written or not
  bool full = false;     ///< no room for a while (F21)
  bool slow = false;     ///< commits take time
  bool reads = false;    ///< reads that fail
  bool corrupt = false;  ///< a record or a row of one run, damaged while the node is down (F23)
  bool jump = false;     ///< of the wall clock while the node is down
  bool drift = false;    ///< of the wall clock under a node that is not restarted (I20)
  bool poison = false;   ///< one step kills the process, always (F5)
  bool cancel = false;   ///< people and events cancel runs
};

struct options {
  std::uint64_t seed = 1;
  std::uint32_t hosts = 1;
  std::uint32_t runs = 1;
  duration network_delay{5};
  std::uint64_t crash_within = 100; ///< the next crash comes within so many messages
  std::uint32_t crashes = 0;        ///< at most, without those of a poison
  shape_options shapes;
  fault_mix faults;
  bool still = false; ///< the twin of a seed with drift: without its jumps
};

[[nodiscard]] options draw_options(std::uint64_t seed);

/// The names of the fault classes that are on.
[[nodiscard]] std::vector<std::string> names_of(const fault_mix& mix);

/// In one line, for people.
[[nodiscard]] std::string to_text(const options& o);

} // namespace sluice::simulation
