#pragma once

#include "sandbox/world.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>

namespace sluice::sandbox {

/// A provider's budget for one connection, as its headers tell it.
struct rate_answer {
  std::uint32_t limit = 0;
  std::uint32_t remaining = 0;
  std::uint32_t used = 0;
  std::int64_t reset_s = 0;    ///< seconds since 1970
  bool exceeded = false;       ///< the window was used up already
  bool too_early = false;      ///< it was told to wait longer than it did
  std::uint64_t in_window = 0; ///< requests in the window that ends now
};

/// Counts requests in fixed windows that begin with the first request, as GitHub does; beside it,
/// in every window wherever it begins. Safe from every thread.
class rates {
public:
  explicit rates(const world& w) : world_{w} {}

  rate_answer take(connection_ref c, timestamp now);
  /// What comes before `until` comes too early.
  void hold(connection_ref c, timestamp until);

private:
  struct budget {
    timestamp begins{};
    timestamp held_until{};
    std::uint32_t used = 0;
    std::deque<timestamp> recent; ///< requests of one window; not kept for limits out of the way
  };

  const world& world_;
  std::mutex mutex_;
  std::map<connection_ref, budget> budgets_;
};

} // namespace sluice::sandbox
