#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// Is this a W3C `traceparent` that may be passed on?
[[nodiscard]] bool is_traceparent(std::string_view text) noexcept;

/// A new trace, from 128 + 64 bits that the caller draws.
[[nodiscard]] std::string new_traceparent(std::uint64_t high, std::uint64_t low,
                                          std::uint64_t span);

/// The same trace with another span; a new trace when `parent` is none.
[[nodiscard]] std::string child_traceparent(std::string_view parent, std::uint64_t entropy);

} // namespace sluice
