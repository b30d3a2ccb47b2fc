#pragma once

#include "api/api.hpp"

namespace sluice::api {

/// POST /trigger {installationId, provider, orgId, depth?, entityTypes?, onConflict?,
/// idempotencyKey?}: 202 {runId, correlationId, status, existing} once the run is durable (B1). A
/// run of that installation under way: `queue` waits behind it, `reject` is a 409
/// JOB_ALREADY_RUNNING, `merge` answers with that run when it covers window and types, else queues.
void trigger_backfill(api_state& s, const call_ptr& c);

/// POST /runs/{id}/units/{unit}/retry: 202 {runId, correlationId, status, retryOf} (B10). The run
/// must have ended and the unit be no success, else 409. The retry goes on from the latest
/// certificate of the unit; asked twice for the same one it is one run.
void retry_unit(api_state& s, const call_ptr& c);

} // namespace sluice::api
