#pragma once

#include "sandbox/world.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::sandbox {

/// Access tokens that say themselves whose they are and when they end, with a mark that only this
/// seed makes: nothing is kept for those that were given out.
class tokens {
public:
  explicit tokens(const world& w) : world_{w} {}

  [[nodiscard]] std::string issue(connection_ref c, timestamp now);
  /// Whose it is; nothing when it is of another provider, was never given out, or has ended.
  [[nodiscard]] std::optional<connection_ref> owner_of(std::string_view token, provider p,
                                                       timestamp now) const;

private:
  [[nodiscard]] std::string mark(std::string_view unmarked) const;

  const world& world_;
  std::atomic<std::uint64_t> serial_{0};
};

} // namespace sluice::sandbox
