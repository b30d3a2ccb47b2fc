#pragma once

#include "base/time.hpp"

#include <cstdint>

namespace sluice {

/// `limit` units in each `period`, bursts up to `limit` (P10). A limit of 0 lets nothing through; a
/// period of 0 lets everything through.
struct bucket_config {
  std::uint32_t limit = 0;
  duration period{};

  friend bool operator==(const bucket_config&, const bucket_config&) = default;
};

/// A token bucket, by what was taken rather than by what is left: a new one is full whatever its
/// limit, and a changed limit needs no conversion of what is stored.
struct bucket {
  double spent = 0; ///< units taken and not yet refilled, as of `at`
  timestamp at{};

  friend bool operator==(const bucket&, const bucket&) = default;
};

template <class Fields>
void describe(Fields& f, bucket& x) {
  f("spent", x.spent);
  f("at", x.at);
}

struct bucket_answer {
  bucket next; ///< to keep and to persist, also when nothing was granted
  bool granted = false;
  timestamp at{}; ///< granted: now; else the earliest instant at which the same request is granted

  friend bool operator==(const bucket_answer&, const bucket_answer&) = default;
};

/// Takes `units` out of `b`, as it stands at `now`. Time that runs backwards refills nothing, and
/// refilling goes on from there. More units than the limit wait for a full bucket and leave a debt,
/// so that the long-run rate holds.
[[nodiscard]] bucket_answer take(bucket b, std::uint32_t units, const bucket_config& config,
                                 timestamp now) noexcept;

} // namespace sluice
