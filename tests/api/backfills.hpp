#pragma once

#include "messages/backfill.hpp"
#include "tests/api/api_world.hpp"

#include <map>
#include <string>

/// Backfills as a store would hold them, for the tests of the API.
namespace sluice::test {

inline const char* const first_run = "018bcfe5-6800-7000-8000-000000000001";
inline const char* const second_run = "018bcfe5-6800-7000-8000-000000000002";
inline const char* const third_run = "018bcfe5-6800-7000-8000-000000000003";
inline const char* const unit_run = "018bcfe5-6800-7000-8000-0000000000aa";

inline run_id id_of(std::string_view text) {
  return run_id{*parse_uuid(text)};
}

inline api::api_config two_providers() {
  api::api_config c;
  c.providers = {{"github", {"pull_request", "issue", "release"}}, {"vercel", {"deployment"}}};
  return c;
}

inline unit_row a_unit(std::string resource, std::string entity, run_status status) {
  unit_row u;
  u.unit = unit_id(resource, entity);
  u.run = unit_run;
  u.resource = {resource, "p-" + resource, "acme/" + resource};
  u.entity = std::move(entity);
  u.status = status;
  u.pages = 2;
  u.counts.served = 200;
  u.counts.delivered = 150;
  u.counts.filtered = 50;
  u.started_at = from_millis(1'700'000'000'000);
  u.updated_at = from_millis(1'700'000'010'000);
  return u;
}

/// Rows and runs that the stand-ins answer from.
struct backfills {
  std::map<run_id, run_found> runs;
  std::map<std::string, std::string> rows; ///< of table::cert

  void add(const char* id, run_status status) {
    auto& found = runs[id_of(id)];
    found.row.emplace();
    found.row->id = id_of(id);
    found.row->workflow = backfill_run_name;
    found.row->installation = "i-1";
    found.row->tenant = "o-1";
    found.row->correlation = "c-1";
    found.row->status = status;
    found.row->requested_at = from_millis(1'700'000'000'000);
    found.input = json::encode(backfill_request{"i-1", "github", "o-1", 30, {}, {}});
  }

  void end(const char* id, run_status status, const backfill_result& how) {
    auto& found = runs[id_of(id)];
    found.row->status = status;
    found.ended.emplace();
    found.ended->data =
      json::encode(run_outcome{status, json::raw{json::encode(how)}, std::nullopt});
  }

  void put(const char* id, const unit_row& u) {
    rows[unit_key(id_of(id), u.unit)] = json::encode(u);
  }

  void serve(script& does) {
    does.find = [this](const find_run& q) -> caf::result<run_found> {
      const auto known = runs.find(q.run);
      return known == runs.end() ? run_found{} : known->second;
    };
    does.steps = [](const load_steps&) -> caf::result<step_page> { return step_page{}; };
    does.table = [this](const load_table& q) -> caf::result<table_page> {
      table_page page;
      for (const auto& [key, value] : rows) {
        if (key.starts_with(q.prefix) && key > q.after && page.rows.size() < q.limit)
          page.rows.push_back({key, value});
      }
      return page;
    };
    does.query = [this](const query_runs& q) -> caf::result<run_page> {
      run_page page;
      for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
        if (run->second.row->installation == q.filter.installation)
          page.runs.push_back(*run->second.row);
      }
      return page;
    };
  }
};

} // namespace sluice::test
