#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// `250ms`, `30s`, `5m`, `2h`, `30d`: a whole number and its unit, without a space. Nothing for
/// anything else, and for more than a hundred years.
[[nodiscard]] std::optional<duration> parse_duration(std::string_view text) noexcept;

/// `512B`, `64KiB`, `1MiB`, `2GiB`, `1TiB` as bytes. Nothing for anything else, and for more than
/// 64 bits hold.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

/// The same the other way: `90s`, `64KiB`, in the largest unit that leaves no rest.
[[nodiscard]] std::string duration_text(duration d);
[[nodiscard]] std::string size_text(std::uint64_t bytes);

} // namespace sluice
