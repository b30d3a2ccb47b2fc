#include "app/unit_board.hpp"

#include "app/answer.hpp"
#include "app/output.hpp"
#include "messages/run.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

namespace sluice {

namespace {

constexpr std::size_t bar_width = 20;
constexpr std::size_t name_width_max = 40;

std::uint64_t number_of(const json::cursor& object, std::string_view name) {
  const auto member = object.find(name);
  const auto n = member ? member->u64() : result<std::uint64_t>{std::uint64_t{0}};
  return n ? *n : 0;
}

bool is_over(std::string_view status) {
  const auto known = run_status_from_string(status);
  return known && is_terminal(*known);
}

/// `2023-11-14T22:13:20.000Z` as `22:13:20`.
std::string time_of_day(const std::string& rfc3339) {
  return rfc3339.size() >= 19 ? rfc3339.substr(11, 8) : rfc3339;
}

/// The instant of `2023-11-14T22:13:20.000Z`, as nodes write it.
std::optional<timestamp> read_time(const std::string& rfc3339) {
  if (rfc3339.size() < 20) return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t n) {
    int value = 0;
    std::from_chars(rfc3339.data() + at, rfc3339.data() + at + n, value);
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year{part(0, 4)},
                                        std::chrono::month{static_cast<unsigned>(part(5, 2))},
                                        std::chrono::day{static_cast<unsigned>(part(8, 2))}};
  if (!day.ok()) return std::nullopt;
  return timestamp{std::chrono::sys_days{day}.time_since_epoch() + std::chrono::hours{part(11, 2)}
                   + std::chrono::minutes{part(14, 2)} + std::chrono::seconds{part(17, 2)}};
}

std::string waiting_of(const json::cursor& unit) {
  const auto waiting = unit.find("waiting");
  if (!waiting || waiting->is_null()) return {};
  auto text = printable(text_of(*waiting, "reason"));
  if (const auto until = text_of(*waiting, "until"); !until.empty())
    text += " until " + time_of_day(until);
  return text;
}

/// With a known end a bar that fills, else a mark that moves with the pages.
std::string bar(std::string_view status, std::uint64_t pages, std::uint64_t expected) {
  if (status == "completed") return std::string(bar_width, '=');
  std::string text(bar_width, ' ');
  if (expected > 0) {
    const auto full = std::min<std::uint64_t>(bar_width, pages * bar_width / expected);
    std::fill_n(text.begin(), full, '=');
    if (full < bar_width) text[full] = '>';
  } else if (pages > 0) {
    const auto at = (pages - 1) % bar_width;
    text[at] = '>';
    if (at > 0) text[at - 1] = '=';
  }
  return text;
}

/// Who is shown first: at work, waiting, failed, done.
constexpr std::size_t ranks = 4;

std::size_t rank(std::string_view status, bool waits) {
  if (is_over(status)) return status == "completed" ? 3 : 2;
  return waits || status == "pending" ? 1 : 0;
}

} // namespace

std::vector<std::string> unit_board::take(const json::cursor& told, instant now) {
  std::vector<std::string> changes;
  for (const auto& item : items_of(told, "units")) {
    auto& u = units_[text_of(item, "unit")];
    const auto before = line_of(u);
    const auto resource = text_of(item, "resourceName");
    u.name = printable((resource.empty() ? text_of(item, "resourceId") : resource) + " "
                       + text_of(item, "entityType"));
    u.status = text_of(item, "status");
    u.pages = number_of(item, "pagesProcessed");
    u.pages_expected = number_of(item, "pagesExpected");
    u.waiting = waiting_of(item);
    u.eta = text_of(item, "eta");
    if (const auto wrong = item.find("error")) u.error = printable(text_of(*wrong, "message"));
    if (const auto counts = item.find("counts")) {
      u.dead = number_of(*counts, "deadLettered");
      u.skipped = number_of(*counts, "skipped");
    }
    const auto events = number_of(item, "eventsDispatched");
    const std::chrono::duration<double> passed = now - u.changed_at;
    if (u.changed_at != instant{} && events > u.events && passed.count() > 0) {
      const auto lately = static_cast<double>(events - u.events) / passed.count();
      u.rate = u.rate == 0 ? lately : 0.7 * u.rate + 0.3 * lately;
    }
    if (u.changed_at == instant{} || events != u.events) u.changed_at = now;
    u.events = events;
    if (auto line = line_of(u); line != before) changes.push_back(std::move(line));
  }
  return changes;
}

std::string unit_board::line_of(const unit& u) {
  auto line = u.name + "  " + painted(u.status) + "  " + grouped(u.pages) + " pages  "
              + grouped(u.events) + " events";
  if (u.dead > 0) line += "  " + grouped(u.dead) + " dead";
  if (!u.waiting.empty()) line += "  waits: " + u.waiting;
  if (!u.error.empty()) line += "  " + u.error;
  return line;
}

std::string unit_board::bar_of(const unit& u, std::size_t name_width, timestamp wall) {
  auto line = padded(clipped(u.name, name_width), name_width) + " ["
              + bar(u.status, u.pages, u.pages_expected) + "] ";
  auto pages = grouped(u.pages);
  if (u.pages_expected > 0) pages += "/" + grouped(u.pages_expected);
  line += padded(pages + " p", 10) + padded(grouped(u.events) + " ev", 13);
  if (is_over(u.status)) return line + u.status + (u.error.empty() ? "" : ": " + u.error);
  if (!u.waiting.empty()) return line + "waits: " + u.waiting;
  line += padded(grouped(static_cast<std::uint64_t>(u.rate)) + "/s", 9);
  if (const auto at = read_time(u.eta); at && wall != never && *at > wall)
    line += "ETA " + short_time(std::chrono::ceil<std::chrono::seconds>(*at - wall));
  return line;
}

std::string unit_board::total_line(std::string_view left_out) const {
  std::size_t done = 0;
  std::size_t failed = 0;
  std::uint64_t events = 0;
  double rate = 0;
  for (const auto& [id, u] : units_) {
    done += u.status == "completed" ? 1 : 0;
    failed += is_over(u.status) && u.status != "completed" ? 1 : 0;
    events += u.events;
    rate += is_over(u.status) || !u.waiting.empty() ? 0 : u.rate;
  }
  auto line = std::to_string(done) + " of " + std::to_string(units_.size()) + " units done";
  if (failed > 0) line += ", " + std::to_string(failed) + " failed";
  line += ", " + grouped(events) + " events, " + grouped(static_cast<std::uint64_t>(rate)) + "/s";
  return line + std::string{left_out};
}

std::vector<std::string> unit_board::lines(std::size_t columns, std::size_t rows,
                                           timestamp wall) const {
  std::array<std::vector<const unit*>, ranks> ranked;
  std::size_t name_width = 0;
  for (const auto& [id, u] : units_) {
    ranked[rank(u.status, !u.waiting.empty())].push_back(&u);
    name_width = std::max(name_width, std::min(u.name.size(), name_width_max));
  }
  std::vector<const unit*> shown;
  for (const auto& same : ranked)
    shown.insert(shown.end(), same.begin(), same.end());
  const auto bars = std::min(shown.size(), rows > 1 ? rows - 1 : 0);
  const auto left_out = shown.size() - bars;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < bars; ++i)
    out.push_back(clipped(bar_of(*shown[i], name_width, wall), columns));
  if (rows > 0) {
    const auto more = left_out == 0 ? "" : " (" + std::to_string(left_out) + " more units)";
    out.push_back(clipped(total_line(more), columns));
  }
  return out;
}

std::string unit_board::summary() const {
  text_table table{{"UNIT", "STATUS", "PAGES", "EVENTS", "SKIPPED", "DEAD", "ERROR"}};
  for (const auto& [id, u] : units_) {
    table.add({u.name, u.status, grouped(u.pages), grouped(u.events), grouped(u.skipped),
               grouped(u.dead), u.error});
  }
  return table.empty() ? std::string{} : table.text();
}

} // namespace sluice
