#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the commands print for people.
namespace sluice {

/// Control characters become `?`: what a node or a file says must not steer a terminal.
[[nodiscard]] std::string printable(std::string_view text);

/// At most so many columns; what is cut off leaves `…` behind.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t columns);
/// Filled up with spaces to so many columns.
[[nodiscard]] std::string padded(std::string_view text, std::size_t columns);
/// `12,345`
[[nodiscard]] std::string grouped(std::uint64_t n);
/// `1h02m`, `3m05s`, `12s`
[[nodiscard]] std::string short_time(std::chrono::seconds s);

struct terminal_size {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

/// Of standard output; nothing when it is no terminal that can move its cursor.
[[nodiscard]] std::optional<terminal_size> terminal();

/// Colours only on a terminal, and not when NO_COLOR is set.
[[nodiscard]] bool colours_wanted();

/// A status in its colour, when colours are wanted.
[[nodiscard]] std::string painted(std::string_view status);

/// Columns as wide as their widest cell, two spaces between them.
class text_table {
public:
  explicit text_table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }

  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const noexcept { return rows_.size() == 1; }
  /// Lines with their ends; cells that are a status are painted.
  [[nodiscard]] std::string text() const;

private:
  std::vector<std::vector<std::string>> rows_;
};

/// To standard output, with a line end.
void print_line(std::string_view text);
void print(std::string_view text);

} // namespace sluice
