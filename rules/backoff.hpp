#pragma once

#include "base/time.hpp"

#include <cstdint>

namespace sluice {

/// How a step waits between its attempts (P2).
struct backoff_config {
  std::uint32_t retries = 3; ///< attempts after the first one
  duration initial{250};
  double factor = 2.0;
  duration max{30'000};

  friend bool operator==(const backoff_config&, const backoff_config&) = default;
};

/// The wait before retry number `attempt`, counted from 0: min(initial · factor^attempt · jitter,
/// max). The jitter lies in [0.5, 1.5) and follows from `entropy` and `attempt` alone, so that a
/// replay sees the same wait; any entropy will do, it is mixed here. Never negative.
[[nodiscard]] duration backoff(const backoff_config& config, std::uint32_t attempt,
                               std::uint64_t entropy) noexcept;

} // namespace sluice
