#include "base/clock.hpp"

#include <array>
#include <cstdio>

namespace sluice {

engine_clock start_engine_clock() {
  const auto wall = std::chrono::floor<duration>(std::chrono::system_clock::now());
  return {wall, std::chrono::steady_clock::now()};
}

std::string to_rfc3339(timestamp t) {
  if (t == never) return {};
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{t - day};
  std::array<char, 48> text{};
  const int length = std::snprintf(
    text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
    static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
    static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
  return {text.data(), static_cast<std::size_t>(length)};
}

} // namespace sluice
