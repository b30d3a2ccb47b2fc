#pragma once

#include "api/api.hpp"

namespace sluice::api {

/// POST /cancel {runId or installationId, reason?}: 202 {cancelled: [runId]} when the work has
/// stopped (P11). By installation all its backfills that have not ended, queued and parked ones too
/// (B3). Nothing to cancel: 404.
void cancel_running(api_state& s, const call_ptr& c);

} // namespace sluice::api
