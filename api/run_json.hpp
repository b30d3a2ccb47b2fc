#pragma once

#include "base/json.hpp"
#include "messages/reads.hpp"
#include "messages/run.hpp"
#include "messages/work.hpp"

#include <optional>
#include <string>

namespace sluice::api {

/// What is known of one run.
struct run_view {
  run_found found; ///< with a row
  step_page steps; ///< of this run alone
  std::optional<run_look> look;
};

/// The members that lists and single runs share: ids as text, instants in RFC 3339 or `null`.
void put_row_members(json::writer& w, const run_row& row);

/// The answer of GET /runs/{id}.
[[nodiscard]] std::string to_json(const run_view& v);

} // namespace sluice::api
