#include "workflows/backfill.hpp"

#include "rules/coverage.hpp"

namespace sluice {

void add_backfill(catalog& flows, backfill_config config) {
  auto parts = std::make_shared<const backfill_config>(std::move(config));
  flows
    .add(std::string{backfill_run_name},
         [parts](context& ctx, backfill_request in) -> task<backfill_result> {
           return backfill_run(ctx, std::move(in), parts);
         })
    .limit(parts->runs_per_installation, [](const backfill_request& r) { return r.installation; })
    .limit(parts->runs_max)
    .covers(covers)
    .ends_as(status_of)
    .own_actor("orchestrator");
  flows
    .add(std::string{backfill_entity_name},
         [parts](context& ctx, entity_request unit) -> task<unit_row> {
           return backfill_entity(ctx, std::move(unit), parts);
         })
    .limit(parts->units_per_installation, [](const entity_request& r) { return r.installation; })
    .limit(parts->units_max)
    .start_within(parts->unit_start)
    .finish_within(parts->unit_finish)
    .ends_as(unit_status)
    .on_failure(entity_failed)
    .own_actor("entity-worker");
}

} // namespace sluice
