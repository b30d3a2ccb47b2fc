#pragma once

#include "base/secret.hpp"
#include "base/time.hpp"
#include "connectors/catalog.hpp"
#include "messages/backfill.hpp"
#include "workflows/catalog.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace sluice {

/// What backfills stand on; the same for all of them.
struct backfill_config {
  std::string gateway_url;
  secret api_key;
  std::map<std::string, std::string, std::less<>> base_urls; ///< by provider; none: its own
  std::shared_ptr<const connector_catalog> connectors;

  std::uint32_t runs_per_installation = 1; ///< B8
  std::uint32_t runs_max = 10;
  std::uint32_t units_per_installation = 5; ///< B13
  std::uint32_t units_max = 30;
  duration unit_start = std::chrono::minutes{5};
  duration unit_finish = std::chrono::hours{2};
  std::uint32_t pages_max = 100'000;            ///< of a unit: an endless list ends here
  duration sent_kept = std::chrono::hours{720}; ///< B20
};

/// Adds `backfill.run` and `backfill.entity`.
void add_backfill(catalog& flows, backfill_config config);

using backfill_parts = std::shared_ptr<const backfill_config>;

/// The story of a connection's backfill (B4 to B10).
task<backfill_result> backfill_run(context& ctx, backfill_request in, backfill_parts parts);
[[nodiscard]] run_status status_of(const backfill_result& result);

/// The story of one unit (B11 to B21).
task<unit_row> backfill_entity(context& ctx, entity_request unit, backfill_parts parts);
[[nodiscard]] run_status unit_status(const unit_row& row);
/// Writes the certificate of a unit that was cancelled, timed out or failed, and tells of its end.
task<void> entity_failed(context& ctx, entity_request unit, run_end how);

} // namespace sluice
