#pragma once

#include "api/run_view.hpp"
#include "base/json.hpp"
#include "messages/run.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::api {

/// The members that lists and single runs share: ids as text, instants in RFC 3339 or `null`.
void put_row_members(json::writer& w, const run_row& row);

/// `null` when empty.
void put_text(json::writer& w, std::string_view name, std::string_view text);
/// RFC 3339, or `null` for `never`.
void put_time(json::writer& w, std::string_view name, timestamp t);

/// What a run waits for: [{step, reason, until}].
[[nodiscard]] std::string waits_json(const std::optional<run_look>& look);

/// {ordinal, name, kind, status, failedAttempts, at, until, resultBytes, error}
[[nodiscard]] std::string step_json(const step_record& step);

enum class with_steps : std::uint8_t { no, yes };

/// The answer of GET /runs/{id}; a stream tells steps apart.
[[nodiscard]] std::string to_json(const run_view& v, with_steps steps = with_steps::yes);

} // namespace sluice::api
