#pragma once

#include <chrono>
#include <cstdint>

namespace sluice {

/// The one duration of the engine. Rules, journal and API count in milliseconds.
using duration = std::chrono::milliseconds;

/// The one instant of the engine: milliseconds since 1970 in UTC. The default value means "never".
using timestamp = std::chrono::time_point<std::chrono::system_clock, duration>;

/// An instant of steady time, as actors' clocks give it.
using steady_point = std::chrono::steady_clock::time_point;

inline constexpr timestamp never{};

[[nodiscard]] constexpr std::int64_t to_millis(timestamp t) noexcept {
  return t.time_since_epoch().count();
}

[[nodiscard]] constexpr timestamp from_millis(std::int64_t ms) noexcept {
  return timestamp{duration{ms}};
}

} // namespace sluice
