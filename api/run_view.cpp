#include "api/run_view.hpp"

#include "api/api.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace sluice::api {

namespace {

constexpr std::size_t rows_per_read = 1000;

/// A view on its way: each answer asks the next question.
struct viewing {
  api_state& s;
  load_steps wanted;
  std::function<void(result<run_view>)> then;
  run_view seen;
  std::vector<run_id> retries; ///< newer backfills of the installation, oldest last
  std::size_t looks_open = 0;

  [[nodiscard]] run_id run() const { return wanted.runs.front(); }
};

using viewing_ptr = std::shared_ptr<viewing>;

void take_found(const viewing_ptr& v, run_found& known);
void take_steps(const viewing_ptr& v, step_page& page);
void take_look(const viewing_ptr& v, run_look& look);
void load_units(const viewing_ptr& v, const std::string& after);
void take_units(const viewing_ptr& v, table_page& page);
void find_retries(const viewing_ptr& v);
void take_newer(const viewing_ptr& v, run_page& page);
void next_retry(const viewing_ptr& v);
void take_retry(const viewing_ptr& v, run_id from, const table_page& page);
void look_at_units(const viewing_ptr& v);

template <class Answer, class Handle, class Question, class Next>
void ask_for(const viewing_ptr& v, const Handle& whom, Question question, Next next) {
  v->s.self->request(whom, v->s.config.answer_timeout, std::move(question))
    .then([v, next](Answer& answer) { next(v, answer); }, [v](const error& e) { v->then(e); });
}

void finish(const viewing_ptr& v) {
  v->then(std::move(v->seen));
}

void take_found(const viewing_ptr& v, run_found& known) {
  if (!known.row) return v->then(make_error(errc::not_found, "no such run"));
  v->seen.found = std::move(known);
  ask_for<step_page>(v, v->s.core.reader, v->wanted, take_steps);
}

void take_steps(const viewing_ptr& v, step_page& page) {
  v->seen.steps = std::move(page);
  const auto& row = *v->seen.found.row;
  if (is_terminal(row.status)) return load_units(v, {});
  ask_for<run_look>(v, v->s.core.admission, look_at_run{row.id}, take_look);
}

void take_look(const viewing_ptr& v, run_look& look) {
  v->seen.look = std::move(look);
  load_units(v, {});
}

// -- the units of a backfill ----------------------------------------------------------

void load_units(const viewing_ptr& v, const std::string& after) {
  auto& seen = v->seen;
  if (seen.found.row->workflow != backfill_run_name) return finish(v);
  if (!seen.backfill) {
    auto& b = seen.backfill.emplace();
    if (auto in = json::decode<backfill_request>(seen.found.input)) b.input = std::move(*in);
    if (seen.found.ended) {
      auto how = json::decode<run_outcome>(seen.found.ended->data);
      if (how && how->result.text != "null") {
        if (auto got = json::decode<backfill_result>(how->result.text)) b.result = std::move(*got);
      }
    }
  }
  ask_for<table_page>(v, v->s.core.reader,
                      load_table{table::cert, unit_key(v->run(), ""), after, rows_per_read},
                      take_units);
}

void add(backfill_totals& to, const unit_row& u) {
  ++to.units;
  to.live += is_terminal(u.status) ? 0 : 1;
  to.completed += u.success() ? 1 : 0;
  to.pages += u.pages;
  to.counts.served += u.counts.served;
  to.counts.delivered += u.counts.delivered;
  to.counts.skipped += u.counts.skipped;
  to.counts.filtered += u.counts.filtered;
  to.counts.gated += u.counts.gated;
  to.counts.dead += u.counts.dead;
  to.counts.pending += u.counts.pending;
  if (u.started_at != never && (to.from == never || u.started_at < to.from)) to.from = u.started_at;
  to.to = std::max(to.to, u.updated_at);
}

void take_units(const viewing_ptr& v, table_page& page) {
  auto& b = *v->seen.backfill;
  for (const auto& row : page.rows) {
    auto unit = json::decode<unit_row>(row.value);
    if (!unit) continue;
    if (b.units.size() == units_max) {
      b.more = true;
      break;
    }
    add(b.totals, *unit);
    b.units.push_back({std::move(*unit), v->run(), {}});
  }
  if (page.rows.size() == rows_per_read && !b.more) return load_units(v, page.rows.back().key);
  if (b.result) {
    b.totals.units = b.result->units_planned;
    b.totals.completed = b.result->units_succeeded;
    b.totals.pages = b.result->pages;
    b.totals.counts = b.result->totals;
  }
  find_retries(v);
}

// -- retries of its units (B10) -----------------------------------------------------

/// Only an ended run has retries, and only of units that were no success.
void find_retries(const viewing_ptr& v) {
  const auto& row = *v->seen.found.row;
  const auto& units = v->seen.backfill->units;
  const bool may_be =
    is_terminal(row.status) && !row.installation.empty()
    && std::ranges::any_of(units, [](const unit_view& u) { return !u.row.success(); });
  if (!may_be) return look_at_units(v);
  query_runs newer;
  newer.filter.workflow = backfill_run_name;
  newer.filter.installation = row.installation;
  newer.limit = retries_max;
  ask_for<run_page>(v, v->s.core.reader, std::move(newer), take_newer);
}

void take_newer(const viewing_ptr& v, run_page& page) {
  for (const auto& row : page.runs) {
    if (row.id > v->run()) v->retries.push_back(row.id);
  }
  next_retry(v);
}

/// Oldest first, so that the retry of a retry comes after it.
void next_retry(const viewing_ptr& v) {
  if (v->retries.empty()) return look_at_units(v);
  const auto from = v->retries.back();
  v->retries.pop_back();
  ask_for<table_page>(
    v, v->s.core.reader, load_table{table::cert, unit_key(from, ""), {}, 1},
    [from](const viewing_ptr& w, const table_page& page) { take_retry(w, from, page); });
}

void take_retry(const viewing_ptr& v, run_id from, const table_page& page) {
  for (const auto& row : page.rows) {
    auto unit = json::decode<unit_row>(row.value);
    if (!unit || unit->retry_of.empty()) continue;
    for (auto& known : v->seen.backfill->units) {
      if (known.row.unit != unit->unit || to_string(known.from) != unit->retry_of) continue;
      known = {*unit, from, {}};
    }
  }
  next_retry(v);
}

// -- what they wait for (B31) -------------------------------------------------------

void look_at_units(const viewing_ptr& v) {
  auto& units = v->seen.backfill->units;
  std::vector<std::pair<std::size_t, run_id>> live;
  for (std::size_t i = 0; i < units.size() && live.size() < unit_looks_max; ++i) {
    const auto id = parse_uuid(units[i].row.run);
    if (id && !is_terminal(units[i].row.status)) live.emplace_back(i, run_id{*id});
  }
  v->looks_open = live.size();
  if (live.empty()) return finish(v);
  for (const auto& [index, run] : live) {
    auto looked = [v, i = index](std::optional<run_look> look) {
      v->seen.backfill->units[i].look = std::move(look);
      if (--v->looks_open == 0) finish(v);
    };
    // A unit that does not answer is shown without what it waits for.
    v->s.self->request(v->s.core.admission, v->s.config.answer_timeout, look_at_run{run})
      .then([looked](run_look& look) { looked(std::move(look)); },
            [looked](const error&) { looked({}); });
  }
}

} // namespace

void view_run(api_state& s, load_steps steps, std::function<void(result<run_view>)> then) {
  auto v = std::make_shared<viewing>(viewing{s, std::move(steps), std::move(then), {}, {}, 0});
  ask_for<run_found>(v, s.core.reader, find_run{v->run()}, take_found);
}

} // namespace sluice::api
