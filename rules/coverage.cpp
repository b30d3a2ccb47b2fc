#include "rules/coverage.hpp"

#include <algorithm>

namespace sluice {

bool covers(const backfill_request& under_way, const backfill_request& wanted) {
  const auto same = [&](auto field) { return under_way.*field == wanted.*field; };
  if (under_way.retry || wanted.retry) return false;
  if (!same(&backfill_request::installation) || !same(&backfill_request::provider)
      || !same(&backfill_request::org)) {
    return false;
  }
  if (under_way.depth_days < wanted.depth_days) return false;
  if (under_way.entities.empty()) return true;
  // Which types the defaults are is not known here: another run is slower, never wrong.
  if (wanted.entities.empty()) return false;
  return std::ranges::all_of(wanted.entities, [&](const std::string& type) {
    return std::ranges::find(under_way.entities, type) != under_way.entities.end();
  });
}

} // namespace sluice
