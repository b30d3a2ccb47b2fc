#include "app/output.hpp"

#include "messages/run.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sluice {

namespace {

/// Columns that `text` takes: characters of UTF-8, each counted as one.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
    text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string_view colour_of(run_status s) {
  switch (s) {
  case run_status::completed:
    return "\x1b[32m";
  case run_status::failed:
  case run_status::partial:
    return "\x1b[31m";
  case run_status::parked:
    return "\x1b[35m";
  case run_status::cancelled:
    return "\x1b[33m";
  case run_status::pending:
  case run_status::running:
  case run_status::recovering:
    return "\x1b[36m";
  }
  return "";
}

} // namespace

std::string printable(std::string_view text) {
  std::string safe{text};
  for (char& c : safe) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return safe;
}

std::string clipped(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) return std::string{text};
  std::size_t seen = 0;
  std::size_t bytes = 0;
  for (; bytes < text.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U;
    if (begins && ++seen >= columns) break;
  }
  return std::string{text.substr(0, bytes)} + (columns == 0 ? "" : "…");
}

std::string padded(std::string_view text, std::size_t columns) {
  std::string out{text};
  const auto used = width(text);
  if (used < columns) out.append(columns - used, ' ');
  return out;
}

std::string grouped(std::uint64_t n) {
  auto text = std::to_string(n);
  for (auto at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, 1, ',');
  return text;
}

std::string short_time(std::chrono::seconds s) {
  const auto total = std::max<std::int64_t>(0, s.count());
  const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  if (total >= 3600) return std::to_string(total / 3600) + "h" + two(total / 60 % 60) + "m";
  if (total >= 60) return std::to_string(total / 60) + "m" + two(total % 60) + "s";
  return std::to_string(total) + "s";
}

std::optional<terminal_size> terminal() {
  const char* kind = std::getenv("TERM");
  const bool dumb = kind == nullptr || std::string_view{kind} == "dumb";
  if (dumb || ::isatty(STDOUT_FILENO) != 1) return std::nullopt;
  terminal_size size;
  winsize told{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &told) == 0 && told.ws_col > 0 && told.ws_row > 0)
    size = {told.ws_col, told.ws_row};
  return size;
}

bool colours_wanted() {
  static const bool wanted = [] {
    const char* no = std::getenv("NO_COLOR");
    return (no == nullptr || *no == '\0') && ::isatty(STDOUT_FILENO) == 1;
  }();
  return wanted;
}

std::string painted(std::string_view status) {
  const auto known = run_status_from_string(status);
  if (!known || !colours_wanted()) return std::string{status};
  return std::string{colour_of(*known)} + std::string{status} + "\x1b[0m";
}

void text_table::add(std::vector<std::string> cells) {
  for (auto& cell : cells)
    cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string text_table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += painted(row[i]);
      if (i + 1 < row.size()) line.append(widths[i] - width(row[i]) + 2, ' ');
    }
    out.append(line).append("\n");
  }
  return out;
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_line(std::string_view text) {
  print(std::string{text} + "\n");
}

} // namespace sluice
