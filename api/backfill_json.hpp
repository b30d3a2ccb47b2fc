#pragma once

#include "api/run_view.hpp"
#include "base/json.hpp"

#include <string>

namespace sluice::api {

/// The members of GET /runs/{id} that only a backfill has: provider, orgId, depth, since, totals,
/// units, certificate.
void put_backfill_members(json::writer& w, const run_view& v);

/// One unit: {unit, entityType, resourceId, …}, see api/README.md.
[[nodiscard]] std::string unit_json(const unit_view& u);

/// {units, unitsLive, unitsCompleted, unitsFailed, pagesProcessed, eventsProduced,
/// eventsDispatched, eventsPerSecond, counts: {…}}
[[nodiscard]] std::string totals_json(const backfill_totals& t);

} // namespace sluice::api
