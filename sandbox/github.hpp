#pragma once

#include "sandbox/service.hpp"

namespace sluice::sandbox {

/// The part of GitHub's REST API that backfills read: the lists of pull requests, issues and
/// releases of a repository, by name or by id, with its headers, limits and errors.
[[nodiscard]] http::response answer_github(service_state& s, const service_request& r);

} // namespace sluice::sandbox
