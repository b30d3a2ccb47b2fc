#include "config/suggest.hpp"

#include <algorithm>
#include <numeric>

namespace sluice {

namespace suggesting {

/// Letters to add, drop, replace or swap with their neighbour until `a` is `b`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string_view leaf(std::string_view name) noexcept {
  return name.substr(name.rfind('.') + 1); // npos + 1 is 0
}

} // namespace suggesting

std::string suggest(std::string_view given, const std::vector<std::string>& known) {
  std::string best;
  std::size_t nearest = 1 + std::max<std::size_t>(2, given.size() / 5);
  for (const auto& name : known) {
    // The right name in the wrong section is nearer than any other misspelling.
    const bool same_leaf = suggesting::leaf(given) == suggesting::leaf(name);
    const auto away = same_leaf ? 1 : suggesting::distance(given, name);
    if (away < nearest) {
      nearest = away;
      best = name;
    }
  }
  return best;
}

} // namespace sluice
