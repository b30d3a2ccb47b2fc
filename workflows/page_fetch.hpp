#pragma once

#include "connectors/connector.hpp"
#include "workflows/backfill.hpp"

#include <memory>
#include <string>

namespace sluice {

/// A page with the body that its items point into.
struct fetched_page {
  std::string cursor; ///< that it came from: a smaller page than was asked for, perhaps
  http_response response;
  list_page list;
};

/// Fetches one page: a pass, the request, the answer. For the work of a step.
///
/// A 401 renews the token once and tries again (B12). A gate that says wait ends the attempt by
/// `wait_until`; `slots` says whether the slot goes back meanwhile (B14). What another try cannot
/// help ends the step (B23, B28).
task<std::shared_ptr<fetched_page>> fetch_page(context& ctx, const connector& from,
                                               unit_scope scope, std::string cursor,
                                               slot_use slots);

/// A call to the gateway: GET with the key, through its circuit. The body of a 200; a 404 is
/// `nullopt`.
task<std::optional<std::string>> ask_gateway(context& ctx, const backfill_config& config,
                                             std::string path, std::string installation);

} // namespace sluice
