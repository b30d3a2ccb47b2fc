#pragma once

#include "api/api.hpp"

namespace sluice::api {

/// GET /runs/{id}/events: a stream of events (text/event-stream) until the run has ended.
/// `progress` {runId, workflow, status, reason, waits, totals, units}: first with all units, then
/// with those that changed (B31); `log`: a step that ended; `completed`: the run as GET /runs/{id}
/// has it, without steps. A client that does not read is dropped; one that comes back hears all
/// again.
void stream_run(api_state& s, const call_ptr& c);

/// Looks at every run that is watched, once for all who watch it. Nobody watches: it stops.
void poll_watched(api_state& s);

/// What may wait for a client that reads slowly: a snapshot of `units_max` units fits.
inline constexpr std::size_t stream_bytes_max = 8ULL * 1024 * 1024;

} // namespace sluice::api
