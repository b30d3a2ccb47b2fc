#include "config/units.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace sluice {

namespace units {

struct unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<unit, 5> times{{
  {"ms", 1},
  {"s", 1'000},
  {"m", 60'000},
  {"h", 3'600'000},
  {"d", 86'400'000},
}};

constexpr std::array<unit, 5> sizes{{
  {"B", 1},
  {"KiB", 1ULL << 10},
  {"MiB", 1ULL << 20},
  {"GiB", 1ULL << 30},
  {"TiB", 1ULL << 40},
}};

constexpr std::uint64_t century_ms = 36'525 * 86'400'000ULL;

std::optional<std::uint64_t> parse(std::string_view text, const std::array<unit, 5>& known,
                                   std::uint64_t most) noexcept {
  std::uint64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc{}) return std::nullopt;
  const std::string_view name{rest, static_cast<std::size_t>(end - rest)};
  for (const auto& u : known) {
    if (u.name != name) continue;
    if (number > most / u.factor) return std::nullopt;
    return number * u.factor;
  }
  return std::nullopt;
}

std::string print(std::uint64_t number, const std::array<unit, 5>& known) {
  const unit* best = &known.front();
  for (const auto& u : known) {
    if (number != 0 && number % u.factor == 0) best = &u;
  }
  return std::to_string(number / best->factor) + std::string{best->name};
}

} // namespace units

std::optional<duration> parse_duration(std::string_view text) noexcept {
  const auto ms = units::parse(text, units::times, units::century_ms);
  if (!ms) return std::nullopt;
  return duration{static_cast<duration::rep>(*ms)};
}

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
  return units::parse(text, units::sizes, std::numeric_limits<std::uint64_t>::max());
}

std::string duration_text(duration d) {
  return units::print(static_cast<std::uint64_t>(d.count()), units::times);
}

std::string size_text(std::uint64_t bytes) {
  return units::print(bytes, units::sizes);
}

} // namespace sluice
