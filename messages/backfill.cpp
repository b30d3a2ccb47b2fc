#include "messages/backfill.hpp"

namespace sluice {

std::string unit_id(std::string_view resource, std::string_view entity) {
  std::string id{resource};
  id.push_back('~');
  id.append(entity);
  return id;
}

std::string unit_key(run_id run, std::string_view unit) {
  auto key = to_string(run);
  key.push_back('/');
  key.append(unit);
  return key;
}

} // namespace sluice
