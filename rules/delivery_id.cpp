#include "rules/delivery_id.hpp"

#include <algorithm>

namespace sluice {

std::string delivery_id(const delivery_key& key) {
  std::string id;
  id.reserve(12 + key.installation.size() + key.resource.size() + key.kind.size()
             + key.item.size());
  id.append("backfill-").append(key.installation).append("-").append(key.resource);
  id.append("-").append(key.kind).append("-").append(key.item);
  return id;
}

bool is_item_id(std::string_view text) noexcept {
  constexpr std::size_t bytes_max = 128;
  return !text.empty() && text.size() <= bytes_max && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
           || c == '.' || c == ':' || c == '-';
  });
}

} // namespace sluice
