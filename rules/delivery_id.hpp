#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// What a delivery id is made of: nothing that changes between pages, runs or nodes (B19).
struct delivery_key {
  std::string_view installation; ///< the gateway's id of the connection
  std::string_view resource;     ///< the provider's id of the repository or project
  std::string_view kind;         ///< `pr`, `issue`, `release`, `deploy`
  std::string_view item;         ///< the item's number or id within its resource
};

/// `backfill-{installation}-{resource}-{kind}-{item}`. Different keys of one installation have
/// different ids as long as no resource id has a `-`; those of GitHub and Vercel have none.
[[nodiscard]] std::string delivery_id(const delivery_key& key);

/// May this stand for an item in a delivery id: 1 to 128 letters, digits, `_`, `.`, `:` or `-`.
[[nodiscard]] bool is_item_id(std::string_view text) noexcept;

} // namespace sluice
