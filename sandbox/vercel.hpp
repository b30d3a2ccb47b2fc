#pragma once

#include "sandbox/service.hpp"

namespace sluice::sandbox {

/// The part of Vercel's API that backfills read: `/v6/deployments` and `/v7/deployments`, newest
/// first. `since` (ms) is inclusive and `until` exclusive, `pagination.next` is the time of the
/// last deployment of the page; several share a millisecond, also across the edge of a page.
[[nodiscard]] http::response answer_vercel(service_state& s, const service_request& r);

} // namespace sluice::sandbox
