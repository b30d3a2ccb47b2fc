#include "workflows/catalog.hpp"

#include <cassert>

namespace sluice {

std::vector<std::string> workflow::keys(std::string_view input) const {
  std::vector<std::string> all;
  for (const auto& limit : limits)
    all.push_back(limit.key ? limit.key(input) : std::string{});
  if (throttle) all.push_back(throttle->key ? throttle->key(input) : std::string{});
  return all;
}

const workflow* catalog::find(std::string_view name) const noexcept {
  auto known = flows_.find(name);
  return known == flows_.end() ? nullptr : &known->second;
}

std::vector<std::string> catalog::names() const {
  std::vector<std::string> all;
  for (const auto& [name, flow] : flows_)
    all.push_back(name);
  return all;
}

workflow& catalog::insert(workflow w) {
  auto name = w.name;
  auto [place, fresh] = flows_.emplace(std::move(name), std::move(w));
  assert(fresh && "two workflows of one name");
  return place->second;
}

} // namespace sluice
