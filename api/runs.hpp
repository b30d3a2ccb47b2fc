#pragma once

#include "api/api.hpp"
#include "base/json.hpp"

/// Runs and events: started, listed, looked at, resumed.
namespace sluice::api {

/// runId, correlationId, status: of an answer to a request for a run.
void put_accepted_members(json::writer& w, const run_accepted& run);

/// POST /runs {workflow, input, idempotencyKey?}: 202 {runId, correlationId, status}. The run is
/// durable when this is answered.
void start_run(api_state& s, const call_ptr& c);

/// GET /runs?status=&workflow=&installationId=&limit=&cursor=: {runs, next}, newest first.
void list_runs(api_state& s, const call_ptr& c);

/// GET /runs/{id}?stepsAfter=: the run with its steps (H21), at most `steps_shown` of them;
/// `stepsNext` asks for the rest.
void show_run(api_state& s, const call_ptr& c);
inline constexpr std::size_t steps_shown = 1000;

/// POST /runs/{id}/resume: 202 {runId, status}; a run that is not parked: 409.
void resume_parked_run(api_state& s, const call_ptr& c);

/// POST /events {kind, subject, data, idempotencyKey?}: 202 {existing, correlationId}.
void take_event(api_state& s, const call_ptr& c);

} // namespace sluice::api
