#include "app/answer.hpp"

#include "app/output.hpp"

namespace sluice {

namespace {

void show_member(const json::cursor& run, std::string_view label, std::string_view name) {
  const auto text = text_of(run, name);
  if (text.empty()) return;
  std::string line{label};
  line.append(line.size() < 13 ? 13 - line.size() : 1, ' ');
  print_line(line + painted(printable(text)));
}

/// The units of a backfill; those that a later run retried say which.
void show_units(const json::cursor& run) {
  text_table units{{"UNIT", "NAME", "STATUS", "PAGES", "EVENTS", "SKIPPED", "DEAD",
                    "WAITS OR ERROR", "RETRIED IN"}};
  for (const auto& unit : items_of(run, "units")) {
    const auto counts = unit.find("counts");
    const auto wrong = unit.find("error");
    const auto waiting = unit.find("waiting");
    auto why = wrong ? text_of(*wrong, "message") : std::string{};
    if (why.empty() && waiting && !waiting->is_null()) {
      const auto until = text_of(*waiting, "until");
      why = text_of(*waiting, "reason") + (until.empty() ? "" : " until " + until);
    }
    if (why.empty()) why = text_of(unit, "note");
    const auto from = text_of(unit, "run");
    units.add({text_of(unit, "unit"), text_of(unit, "resourceName"), text_of(unit, "status"),
               text_of(unit, "pagesProcessed"), text_of(unit, "eventsDispatched"),
               counts ? text_of(*counts, "skipped") : "",
               counts ? text_of(*counts, "deadLettered") : "", why,
               from == text_of(run, "runId") ? "" : from});
  }
  if (!units.empty()) print("\n" + units.text());
  if (text_of(run, "unitsMore") == "true") print_line("there are more units");
}

} // namespace

std::string text_of(const json::cursor& value) {
  if (value.is_null()) return {};
  if (auto text = value.str()) return std::string{*text};
  return value.text();
}

std::string text_of(const json::cursor& object, std::string_view name) {
  const auto member = object.find(name);
  return member ? text_of(*member) : std::string{};
}

std::vector<json::cursor> items_of(const json::cursor& object, std::string_view name) {
  const auto member = object.find(name);
  if (!member) return {};
  auto items = member->items();
  return items ? std::move(*items) : std::vector<json::cursor>{};
}

void show_run(const json::cursor& run) {
  show_member(run, "run", "runId");
  show_member(run, "workflow", "workflow");
  show_member(run, "status", "status");
  show_member(run, "reason", "reason");
  show_member(run, "parent", "parentId");
  show_member(run, "installation", "installationId");
  show_member(run, "provider", "provider");
  show_member(run, "org", "orgId");
  show_member(run, "since", "since");
  show_member(run, "correlation", "correlationId");
  show_member(run, "requested", "requestedAt");
  show_member(run, "started", "startedAt");
  show_member(run, "ended", "endedAt");
  if (const auto totals = run.find("totals")) {
    print_line("totals       " + text_of(*totals, "unitsCompleted") + " of "
               + text_of(*totals, "units") + " units, " + text_of(*totals, "eventsDispatched")
               + " events, " + text_of(*totals, "pagesProcessed") + " pages");
  } else {
    show_member(run, "input", "input");
    show_member(run, "result", "result");
  }
  show_member(run, "error", "error");
  show_member(run, "corrupt", "corrupt");

  show_units(run);

  text_table waits{{"WAITS IN", "FOR", "UNTIL"}};
  for (const auto& wait : items_of(run, "waits"))
    waits.add({text_of(wait, "step"), text_of(wait, "reason"), text_of(wait, "until")});
  if (!waits.empty()) print("\n" + waits.text());

  text_table steps{{"#", "STEP", "KIND", "STATUS", "FAILED", "BYTES", "AT", "ERROR"}};
  for (const auto& step : items_of(run, "steps")) {
    const auto wrong = step.find("error");
    steps.add({text_of(step, "ordinal"), text_of(step, "name"), text_of(step, "kind"),
               text_of(step, "status"), text_of(step, "failedAttempts"),
               text_of(step, "resultBytes"), text_of(step, "at"),
               wrong ? text_of(*wrong, "message") : ""});
  }
  if (!steps.empty()) print("\n" + steps.text());
  if (!text_of(run, "stepsNext").empty()) print_line("there are more steps");
}

} // namespace sluice
