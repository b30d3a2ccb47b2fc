#pragma once

#include "api/api.hpp"

namespace sluice::api {

/// GET /health/live: 200 as long as the process answers (H22).
void health_live(api_state& s, const call_ptr& c);

/// GET /health/ready: 200 when the node takes and does work, else 503; either way
/// `{status, components: {eventStore, queues}}`, the worst component first in `status` (H22).
void health_ready(api_state& s, const call_ptr& c);

} // namespace sluice::api
