#pragma once

#include "base/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// `2026-11-18T11:49:05Z`, also with a fraction of a second (cut to milliseconds) and an offset
/// instead of `Z`. Nothing for any other text, or for a day that no calendar has.
[[nodiscard]] std::optional<timestamp> parse_rfc3339(std::string_view text) noexcept;

/// The date of HTTP's headers: `Wed, 18 Nov 2026 11:49:05 GMT`. The name of the day is not checked.
[[nodiscard]] std::optional<timestamp> parse_http_date(std::string_view text) noexcept;

/// Whole seconds, rounded down: `2026-11-18T11:49:05Z`. For queries; `to_rfc3339` is for people.
[[nodiscard]] std::string to_query_time(timestamp t);

} // namespace sluice
