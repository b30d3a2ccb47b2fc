#include "rules/run_status.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <string_view>

using namespace sluice;

TEST_CASE("run_status: which status may follow which (I22)") {
  using enum run_status;
  constexpr std::array all{pending, running, recovering, completed,
                           partial, failed,  cancelled,  parked};
  // Rows: from, columns: to, both in the order above.
  constexpr std::array<std::string_view, 8> table{
    "xxxxxxxx", // pending
    ".xxxxxxx", // running
    ".xxxxxxx", // recovering
    "........", // completed
    "........", // partial
    "........", // failed
    "........", // cancelled
    "xxx..xxx", // parked
  };
  for (std::size_t from = 0; from < all.size(); ++from) {
    for (std::size_t to = 0; to < all.size(); ++to) {
      INFO(to_string(all[from]) << " to " << to_string(all[to]));
      CHECK(may_follow(all[from], all[to]) == (table[from][to] == 'x'));
    }
  }
}

TEST_CASE("run_status: nothing follows what is terminal (I22)") {
  for (std::uint8_t from = 0; from < 8; ++from)
    for (std::uint8_t to = 0; to < 8; ++to)
      if (is_terminal(run_status{from})) CHECK_FALSE(may_follow(run_status{from}, run_status{to}));
}
