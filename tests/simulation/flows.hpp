#pragma once

#include "tests/simulation/outside.hpp"
#include "tests/simulation/program.hpp"
#include "workflows/catalog.hpp"

#include <chrono>
#include <cstdint>

namespace sluice::simulation {

inline constexpr std::uint32_t limited_per_key = 1;
inline constexpr std::uint32_t limited_in_all = 2;
inline constexpr std::uint32_t throttled_starts = 1;
inline constexpr duration throttled_period{2000};
inline constexpr duration guarded_time{40'000};

/// Events between runs and from outside, the one that cancels a guarded run, and what its
/// `on_failure` sends.
inline constexpr const char* go_kind = "sim.go";
inline constexpr const char* stop_kind = "sim.stop";
inline constexpr const char* failed_kind = "sim.failed";

/// The workflows that interpret programs: the same body under different rules.
void add_flows(catalog& flows, outside& o);

} // namespace sluice::simulation
