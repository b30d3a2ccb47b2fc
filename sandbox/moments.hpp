#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// How the two providers write time.
namespace sluice::sandbox {

/// `2026-11-18T11:49:05Z`.
[[nodiscard]] std::string iso_seconds(std::int64_t ms);

/// Milliseconds of `2026-11-18T11:49:05Z`, with an optional fraction and `Z` or `+00:00` at its
/// end, or of plain digits, which are milliseconds already. Nothing for anything else.
[[nodiscard]] std::optional<std::int64_t> millis_of(std::string_view text);

} // namespace sluice::sandbox
