#pragma once

#include "base/uuid.hpp"

#include <compare>
#include <functional>
#include <string>
#include <utility>

namespace sluice {

/// Which run. A UUIDv7: sorts by the time at which the run was requested.
struct run_id {
  uuid value;

  friend auto operator<=>(const run_id&, const run_id&) = default;
  [[nodiscard]] bool is_nil() const noexcept { return value.is_nil(); }
};

/// Which commit: made anew for each batch, the same when the batch is sent again.
struct batch_id {
  uuid value;

  friend auto operator<=>(const batch_id&, const batch_id&) = default;
};

[[nodiscard]] inline std::string to_string(const run_id& id) {
  return to_string(id.value);
}
[[nodiscard]] inline std::string to_string(const batch_id& id) {
  return to_string(id.value);
}

/// Answers of actors that serve thousands at once carry the asker's token instead of a promise.
using token = std::uint64_t;

} // namespace sluice

template <>
struct std::hash<sluice::run_id> {
  std::size_t operator()(const sluice::run_id& id) const noexcept {
    return std::hash<sluice::uuid>{}(id.value);
  }
};
