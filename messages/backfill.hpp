#pragma once

#include "base/json.hpp"
#include "base/time.hpp"
#include "messages/run.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The words of a backfill: what is asked for, what a unit of it is, and what is known of one.
namespace sluice {

inline constexpr std::string_view backfill_run_name = "backfill.run";
inline constexpr std::string_view backfill_entity_name = "backfill.entity";

/// The event that tells of a unit's end, once per unit however it ended (B17). Its subject is the
/// run of the unit, its data a `unit_row`.
inline constexpr std::string_view entity_completed_kind = "entity.completed";

/// One part of a connection, as the gateway names it.
struct resource_ref {
  std::string id;
  std::string provider_id;
  std::string name; ///< may be empty
};

template <class Fields>
void describe(Fields& f, resource_ref& x) {
  f("id", x.id);
  f("providerResourceId", x.provider_id);
  f("resourceName", x.name);
}

/// Where an earlier run's unit stands: what a retry of it goes on from (B10).
struct unit_retry {
  std::string run; ///< the run that is retried
  std::string unit;
};

template <class Fields>
void describe(Fields& f, unit_retry& x) {
  f("run", x.run);
  f("unit", x.unit);
}

/// The input of `backfill.run`: a trigger (B1), or the retry of one unit (B10).
struct backfill_request {
  std::string installation;
  std::string provider;
  std::string org;
  std::uint32_t depth_days = 30;
  std::vector<std::string> entities; ///< empty: the connector's defaults
  std::optional<unit_retry> retry;
};

template <class Fields>
void describe(Fields& f, backfill_request& x) {
  f("installationId", x.installation);
  f("provider", x.provider);
  f("orgId", x.org);
  f("depth", x.depth_days);
  f("entityTypes", x.entities);
  f("retryOf", x.retry);
}

/// What happened to the items of a unit. They balance: served = delivered + skipped + filtered +
/// gated + dead + pending (I10); pending is 0 unless the unit was cancelled or failed.
struct unit_counts {
  std::uint64_t served = 0; ///< distinct items
  std::uint64_t delivered = 0;
  std::uint64_t skipped = 0;  ///< sent by an earlier run and unchanged (B20)
  std::uint64_t filtered = 0; ///< outside the window, or not of this entity
  std::uint64_t gated = 0;    ///< stored, their type is disabled (B21)
  std::uint64_t dead = 0;     ///< in the dead letters (B18)
  std::uint64_t pending = 0;

  [[nodiscard]] bool balances() const noexcept {
    return served == delivered + skipped + filtered + gated + dead + pending;
  }
  friend bool operator==(const unit_counts&, const unit_counts&) = default;
};

template <class Fields>
void describe(Fields& f, unit_counts& x) {
  f("served", x.served);
  f("delivered", x.delivered);
  f("skipped", x.skipped);
  f("filtered", x.filtered);
  f("gated", x.gated);
  f("deadLettered", x.dead);
  f("pending", x.pending);
}

/// What is known of a unit: written with each page, and at the end its certificate. A row of
/// `table::cert` under `unit_key(run, unit)`, so that all units of a run are one read.
struct unit_row {
  std::string unit;     ///< `{resourceId}~{entityType}`
  std::string run;      ///< the run of the unit itself (`backfill.entity`)
  std::string retry_of; ///< the run whose unit this one retries; empty: none
  resource_ref resource;
  std::string entity;
  timestamp since{}; ///< of the window
  run_status status = run_status::pending;
  std::uint32_t pages = 0;
  std::uint32_t pages_expected = 0; ///< as the provider's links say; 0: not known
  unit_counts counts;
  std::string cursor; ///< the page to go on with; empty: none is left
  std::string digest; ///< over the delivery ids served, in any order
  timestamp started_at{};
  timestamp updated_at{};
  timestamp ended_at{};
  std::string note; ///< why there was nothing, when there was nothing
  std::optional<failure> error;

  [[nodiscard]] bool success() const noexcept { return status == run_status::completed; }
};

template <class Fields>
void describe(Fields& f, unit_row& x) {
  f("unit", x.unit);
  f("run", x.run);
  f("retryOf", x.retry_of);
  f("resource", x.resource);
  f("entityType", x.entity);
  f("since", x.since);
  f("status", x.status);
  f("pages", x.pages);
  f("pagesExpected", x.pages_expected);
  f("counts", x.counts);
  f("cursor", x.cursor);
  f("digest", x.digest);
  f("startedAt", x.started_at);
  f("updatedAt", x.updated_at);
  f("endedAt", x.ended_at);
  f("note", x.note);
  f("error", x.error);
}

/// A connection, as far as a backfill needs it and the journal may know it: no secret is in it.
struct connection_info {
  std::string id;
  std::string provider;
  std::string external_id;
  std::string org;
  std::string status;
  std::vector<resource_ref> resources;
  std::optional<std::vector<std::string>> scopes; ///< nothing: not checked
  std::vector<std::string> disabled_types;
};

template <class Fields>
void describe(Fields& f, connection_info& x) {
  f("id", x.id);
  f("provider", x.provider);
  f("externalId", x.external_id);
  f("orgId", x.org);
  f("status", x.status);
  f("resources", x.resources);
  f("scopes", x.scopes);
  f("disabledEventTypes", x.disabled_types);
}

/// The input of `backfill.entity`.
struct entity_request {
  std::string run; ///< the run of the orchestrator: under it the unit's row is kept
  std::string installation;
  std::string provider;
  std::string org;
  std::string external_id;
  resource_ref resource;
  std::string entity;
  timestamp since{};
  std::vector<std::string> disabled_types;
  std::string cursor; ///< where to begin; empty: at the first page
  std::string retry_of;
};

template <class Fields>
void describe(Fields& f, entity_request& x) {
  f("run", x.run);
  f("installationId", x.installation);
  f("provider", x.provider);
  f("orgId", x.org);
  f("externalId", x.external_id);
  f("resource", x.resource);
  f("entityType", x.entity);
  f("since", x.since);
  f("disabledEventTypes", x.disabled_types);
  f("cursor", x.cursor);
  f("retryOf", x.retry_of);
}

[[nodiscard]] std::string unit_id(std::string_view resource, std::string_view entity);

/// The key of a unit's row: all rows of a run share the prefix `unit_key(run, "")`.
[[nodiscard]] std::string unit_key(run_id run, std::string_view unit);

inline constexpr std::size_t result_units_max = 500;

/// The result of `backfill.run` (B9).
struct backfill_result {
  timestamp since{};
  std::string connection;
  std::uint64_t events_produced = 0;
  std::uint64_t events_dispatched = 0;
  std::uint64_t pages = 0;
  unit_counts totals;
  std::uint64_t units_planned = 0;
  std::uint64_t units_succeeded = 0;
  std::uint64_t units_partial = 0;
  std::vector<unit_row> units; ///< the first `result_units_max`; all of them are rows of their own
  std::string digest;          ///< over the digests of the units
};

template <class Fields>
void describe(Fields& f, backfill_result& x) {
  f("since", x.since);
  f("connectionId", x.connection);
  f("eventsProduced", x.events_produced);
  f("eventsDispatched", x.events_dispatched);
  f("pagesProcessed", x.pages);
  f("totals", x.totals);
  f("unitsPlanned", x.units_planned);
  f("unitsSucceeded", x.units_succeeded);
  f("unitsPartial", x.units_partial);
  f("units", x.units);
  f("digest", x.digest);
}

} // namespace sluice
