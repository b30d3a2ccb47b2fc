#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/percent.hpp"
#include "workflows/backfill.hpp"
#include "workflows/context.hpp"
#include "workflows/page_fetch.hpp"

#include <algorithm>

namespace sluice {

namespace {

task<connection_info> get_connection(context& ctx, const backfill_config& config, std::string id) {
  auto body = co_await ask_gateway(ctx, config, "/connections/" + percent_encode(id), id);
  if (!body) throw non_retriable{"not_found", "the gateway knows no connection '" + id + "'"};
  auto known = json::decode<connection_info>(*body);
  if (!known)
    throw non_retriable{"bad_input",
                        "the gateway's connection '" + id + "': " + detail_of(known.error())};
  co_return std::move(*known);
}

/// The connector, or why this connection cannot be backfilled (B4).
const connector& usable(const backfill_config& config, const connection_info& connection,
                        const backfill_request& in, const std::vector<std::string>& entities) {
  if (connection.status != "active")
    throw non_retriable{
      "inactive_connection",
      "connection '" + connection.id + "' is "
        + (connection.status.empty() ? std::string{"without status"} : connection.status)
        + ", not active"};
  if (connection.provider != in.provider)
    throw non_retriable{"bad_input", "connection '" + connection.id + "' is of "
                                       + connection.provider + ", not of " + in.provider};
  const auto* from = config.connectors->find(connection.provider);
  if (from == nullptr)
    throw non_retriable{"unknown_provider", "no connector for '" + connection.provider + "'"};
  const auto known = from->entities();
  for (const auto& entity : entities.empty() ? known : entities) {
    if (std::find(known.begin(), known.end(), entity) == known.end())
      throw non_retriable{"bad_input", connection.provider + " has no '" + entity + "'"};
    if (connection.scopes && !has_scope(*from, entity, *connection.scopes))
      throw non_retriable{"missing_scope", "connection '" + connection.id
                                             + "' lacks a scope to read '" + entity + "': one of "
                                             + json::encode(from->scopes(entity))};
  }
  return *from;
}

std::vector<entity_request> units_of(const context& ctx, const connection_info& connection,
                                     const std::vector<std::string>& entities, timestamp since) {
  std::vector<entity_request> units;
  for (const auto& resource : connection.resources)
    for (const auto& entity : entities) {
      entity_request unit;
      unit.run = to_string(ctx.run().id);
      unit.installation = connection.id;
      unit.provider = connection.provider;
      unit.org = connection.org;
      unit.external_id = connection.external_id;
      unit.resource = resource;
      unit.entity = entity;
      unit.since = since;
      unit.disabled_types = connection.disabled_types;
      units.push_back(std::move(unit));
    }
  return units;
}

unit_row first_row(const entity_request& unit) {
  unit_row row;
  row.unit = unit_id(unit.resource.id, unit.entity);
  row.resource = unit.resource;
  row.entity = unit.entity;
  row.since = unit.since;
  row.retry_of = unit.retry_of;
  row.cursor = unit.cursor;
  row.started_at = never;
  row.updated_at = never;
  row.ended_at = never;
  return row;
}

void add(unit_counts& to, const unit_counts& what) {
  to.served += what.served;
  to.delivered += what.delivered;
  to.skipped += what.skipped;
  to.filtered += what.filtered;
  to.gated += what.gated;
  to.dead += what.dead;
  to.pending += what.pending;
}

/// The row of the unit that a retry goes on with (B10).
task<unit_row> find_unit(context& ctx, unit_retry what) {
  const auto run = parse_uuid(what.run);
  if (!run) throw non_retriable{"bad_input", "retryOf: no run has such an id"};
  const auto key = unit_key(run_id{*run}, what.unit);
  auto found = co_await ctx.read(load_table{table::cert, key, {}, 1});
  if (found.rows.empty() || found.rows.front().key != key)
    throw non_retriable{"not_found", "run " + what.run + " has no unit " + what.unit};
  auto row = json::decode<unit_row>(found.rows.front().value);
  if (!row) throw non_retriable{"corrupt", detail_of(row.error())};
  co_return std::move(*row);
}

backfill_result sum_up(std::vector<unit_row> rows, std::string connection, timestamp since) {
  backfill_result total;
  total.since = since;
  total.connection = std::move(connection);
  std::string digests;
  total.units_planned = rows.size();
  for (const auto& row : rows) {
    add(total.totals, row.counts);
    total.pages += row.pages;
    if (row.success()) ++total.units_succeeded;
    if (row.status == run_status::partial) ++total.units_partial;
    digests += row.digest;
  }
  rows.resize(std::min(rows.size(), result_units_max));
  total.events_produced = total.totals.served - total.totals.filtered;
  total.events_dispatched = total.totals.delivered;
  total.digest = sha256_hex(digests);
  total.units = std::move(rows);
  return total;
}

} // namespace

run_status status_of(const backfill_result& result) {
  if (result.units_succeeded == result.units_planned) return run_status::completed;
  return result.units_succeeded + result.units_partial > 0 ? run_status::partial
                                                           : run_status::failed;
}

task<backfill_result> backfill_run(context& ctx, backfill_request in, backfill_parts parts) {
  auto ask = [&] { return get_connection(ctx, *parts, in.installation); };
  const connection_info connection = co_await ctx.step("get-connection", ask);
  const auto& from = usable(*parts, connection, in, in.entities);
  auto since = ctx.now() - std::chrono::hours{24} * in.depth_days;

  auto entities = in.entities.empty() ? from.entities() : in.entities;
  auto units = units_of(ctx, connection, entities, since);
  if (in.retry) {
    auto find = [&] { return find_unit(ctx, *in.retry); };
    const unit_row old = co_await ctx.step("find-unit", find);
    since = old.since;
    std::erase_if(units, [&](const entity_request& u) {
      return unit_id(u.resource.id, u.entity) != in.retry->unit;
    });
    if (units.empty())
      throw non_retriable{"gone", "connection '" + connection.id + "' no longer has unit "
                                    + in.retry->unit};
    units.front().since = since;
    units.front().cursor = old.cursor;
    units.front().retry_of = in.retry->run;
  }

  auto plan = [&]() -> recorded<std::uint64_t> {
    recorded<std::uint64_t> planned{units.size(), {}};
    for (const auto& unit : units) {
      const auto row = first_row(unit);
      planned.with.push_back(
        put_row{table::cert, unit_key(ctx.run().id, row.unit), json::encode(row)});
    }
    return planned;
  };
  co_await ctx.step("plan-units", plan);

  std::vector<awaited<typed_invoke<unit_row>>> children;
  children.reserve(units.size());
  for (const auto& unit : units)
    children.push_back(ctx.invoke<unit_row>("unit-" + unit_id(unit.resource.id, unit.entity),
                                            std::string{backfill_entity_name}, unit));
  const auto ends = co_await ctx.all_settled(std::move(children));

  std::vector<unit_row> rows;
  rows.reserve(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].value) {
      rows.push_back(*ends[i].value);
      continue;
    }
    // Its certificate was written by the unit itself, with its end.
    const auto key = unit_key(ctx.run().id, unit_id(units[i].resource.id, units[i].entity));
    auto look = [&]() -> task<unit_row> {
      auto found = co_await ctx.read(load_table{table::cert, key, {}, 1});
      auto row = found.rows.empty() ? result<unit_row>{first_row(units[i])}
                                    : json::decode<unit_row>(found.rows.front().value);
      co_return row ? std::move(*row) : first_row(units[i]);
    };
    auto row = co_await ctx.step("read-unit-" + std::to_string(i), look);
    if (!is_terminal(row.status)) row.status = run_status::failed;
    if (!row.error) row.error = ends[i].error;
    rows.push_back(std::move(row));
  }
  co_return sum_up(std::move(rows), connection.id, since);
}

} // namespace sluice
