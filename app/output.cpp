#include "app/output.hpp"

#include "messages/run.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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
