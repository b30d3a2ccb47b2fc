#pragma once

#include "base/json.hpp"
#include "base/time.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What is known of the units of a backfill while it is followed (B31), and how it looks. Knows no
/// terminal: it gives back lines.
class unit_board {
public:
  using instant = std::chrono::steady_clock::time_point;

  /// Takes the units of a `progress` event, or of a whole run. One line for each that changed, for
  /// where there is no terminal.
  std::vector<std::string> take(const json::cursor& told, instant now);

  /// A bar per unit and a line for all: at most `rows` lines of at most `columns`. Units at work
  /// come first; those that do not fit are counted in one line. `wall` is what ETAs are told from.
  [[nodiscard]] std::vector<std::string> lines(std::size_t columns, std::size_t rows,
                                               timestamp wall) const;

  /// The table at the end.
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] bool empty() const noexcept { return units_.empty(); }

private:
  struct unit {
    std::string name; ///< resource and type
    std::string status;
    std::uint64_t pages = 0;
    std::uint64_t pages_expected = 0; ///< 0: not known
    std::uint64_t events = 0;
    std::uint64_t dead = 0;
    std::uint64_t skipped = 0;
    std::string waiting; ///< for what and until when; empty: it works
    std::string eta;     ///< RFC 3339; empty: not known
    std::string error;
    double rate = 0; ///< events per second, lately
    instant changed_at{};
  };

  [[nodiscard]] static std::string line_of(const unit& u);
  [[nodiscard]] static std::string bar_of(const unit& u, std::size_t name_width, timestamp wall);
  [[nodiscard]] std::string total_line(std::string_view left_out) const;

  std::map<std::string, unit> units_; ///< by id
};

} // namespace sluice
