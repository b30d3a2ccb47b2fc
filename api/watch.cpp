#include "api/watch.hpp"

#include "api/backfill_json.hpp"
#include "api/run_json.hpp"

#include <utility>

namespace sluice::api {

std::string server_event(std::string_view name, std::string_view data) {
  std::string text{"event: "};
  text.append(name).append("\n");
  for (bool more = true; more;) {
    const auto end = data.find('\n');
    text.append("data: ").append(data.substr(0, end)).append("\n");
    more = end != std::string_view::npos;
    if (more) data.remove_prefix(end + 1);
  }
  return text.append("\n");
}

bool watched_run::take_steps(const run_view& v, std::string& told) {
  const bool over = is_terminal(v.found.row->status);
  for (const auto& memo : v.steps.runs) {
    for (const auto& step : memo.steps) {
      const bool ended = step.status == step_status::done || step.status == step_status::failed;
      // In their order: one that is under way holds up those behind it, unless it will never end.
      if (!ended && !over) return false;
      after_ = step.ordinal;
      if (!ended) continue;
      log_.push_back(server_event("log", step_json(step)));
      told += log_.back();
      if (log_.size() > log_max) log_.pop_front();
    }
  }
  return v.steps.next.has_value();
}

std::string watched_run::take_progress(const run_view& v) {
  const auto& row = *v.found.row;
  json::writer w;
  w.obj().key("runId").str(to_string(row.id)).key("workflow").str(row.workflow);
  const bool live = v.look && v.look->live;
  w.key("status").str(to_string(live ? v.look->status : row.status));
  put_text(w, "reason", row.reason);
  w.key("waits").raw(waits_json(v.look));
  w.key("totals").raw(v.backfill ? totals_json(v.backfill->totals) : "null");
  bool changed = std::exchange(head_, w.text()) != w.text();
  std::vector<const std::string*> units;
  if (v.backfill) {
    for (const auto& u : v.backfill->units) {
      auto text = unit_json(u);
      auto& known = units_[u.row.unit];
      if (known == text) continue;
      known = std::move(text);
      units.push_back(&known);
    }
  }
  changed = changed || !units.empty();
  return changed ? progress(units) : std::string{};
}

std::string watched_run::progress(const std::vector<const std::string*>& units) const {
  std::string data = head_ + R"(,"units":[)";
  for (const auto* unit : units) {
    if (unit != units.front()) data.push_back(',');
    data += *unit;
  }
  return server_event("progress", data + "]}");
}

std::string watched_run::all() const {
  std::vector<const std::string*> units;
  for (const auto& [name, text] : units_)
    units.push_back(&text);
  auto told = progress(units);
  for (const auto& line : log_)
    told += line;
  return told;
}

std::size_t watch_book::clients() const noexcept {
  std::size_t n = 0;
  for (const auto& [run, w] : runs)
    n += w.clients.size() + w.joining.size();
  return n;
}

} // namespace sluice::api
