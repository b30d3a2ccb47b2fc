#pragma once

#include "sandbox/history.hpp"
#include "sandbox/ledger.hpp"
#include "sandbox/lru.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice::sandbox {

/// A part of a list: the JSON array and what the ledger wants to know of it.
struct page {
  std::string array;
  std::vector<served_item> items; ///< without what is no item of the list, and without drafts
  std::size_t total = 0;          ///< items in the whole list
  std::int64_t first_ms = 0;      ///< when the first and the last item of the page were created
  std::int64_t last_ms = 0;
  std::size_t count = 0;
};

/// Makes pages, and remembers those that were asked for lately.
class pages {
public:
  pages(const world& w, const history& h)
    : world_{w}, history_{h}, lists_{w.about().cache_bytes / 4},
      pages_{w.about().cache_bytes / 4 * 3} {}

  /// At most `count` items from the `from`th on, counted from 0.
  [[nodiscard]] std::shared_ptr<const page> get(list_ref l, const list_query& q, std::size_t from,
                                                std::size_t count);

private:
  using list = std::vector<item_facts>;
  [[nodiscard]] std::shared_ptr<const list> list_of(list_ref l, const list_query& q,
                                                    std::uint64_t key);

  const world& world_;
  const history& history_;
  lru<list> lists_;
  lru<page> pages_;
};

/// Tells queries apart.
[[nodiscard]] std::uint64_t hash_of(const list_query& q) noexcept;

} // namespace sluice::sandbox
