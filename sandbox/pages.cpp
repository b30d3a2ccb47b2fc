#include "sandbox/pages.hpp"

#include "sandbox/items.hpp"

#include <algorithm>

namespace sluice::sandbox {

namespace making {

constexpr std::size_t item_bytes_guess = 3'600;

served_item served(const item_writer& writer, const item_facts& f, std::string_view text) {
  served_item item;
  item.id = ledger::id_of(writer.delivery_id(f));
  item.digest = hash64(text);
  item.bytes = static_cast<std::uint32_t>(text.size());
  item.window_s = static_cast<std::uint32_t>(f.window_ms.value_or(0) / 1000);
  return item;
}

} // namespace making

std::uint64_t hash_of(const list_query& q) noexcept {
  const auto flags = (static_cast<std::uint64_t>(q.state) << 8)
                     | (static_cast<std::uint64_t>(q.by) << 4) | (q.ascending ? 1U : 0U);
  const auto since = static_cast<std::uint64_t>(q.since_ms.value_or(-1));
  return mix64(mix64(flags, since), static_cast<std::uint64_t>(q.until_ms.value_or(-1)));
}

std::shared_ptr<const pages::list> pages::list_of(list_ref l, const list_query& q,
                                                  std::uint64_t key) {
  if (auto known = lists_.find(key)) return known;
  auto made = std::make_shared<const list>(history_.list(l, q));
  lists_.keep(key, made, made->size() * sizeof(item_facts) + 200);
  return made;
}

std::shared_ptr<const page> pages::get(list_ref l, const list_query& q, std::size_t from,
                                       std::size_t count) {
  const auto place =
    mix64(l.of.key(), (static_cast<std::uint64_t>(l.kind) << 32) | history_.revision(l.of));
  // The reader of a list by time asks with another `until` for each page.
  const auto list_key = mix64(place, hash_of(q));
  const auto page_key = mix64(list_key, (std::uint64_t{from} << 16) | count);
  if (auto known = pages_.find(page_key)) return known;

  const auto all = list_of(l, q, list_key);
  auto made = std::make_shared<page>();
  made->total = all->size();
  const item_writer writer{world_, l};
  made->array.reserve(std::min(count, all->size()) * making::item_bytes_guess);
  made->array += '[';
  for (auto i = from; i < std::min(from + count, all->size()); ++i) {
    const auto& f = (*all)[i];
    if (made->count++ > 0) made->array += ',';
    if (made->count == 1) made->first_ms = f.created_ms;
    made->last_ms = f.created_ms;
    const auto begin = made->array.size();
    writer.append(made->array, f);
    if (f.kind != l.kind || !f.window_ms) continue;
    auto item = making::served(writer, f, std::string_view{made->array}.substr(begin));
    item.moved = f.version > 0 || f.added;
    made->items.push_back(item);
  }
  made->array += ']';
  pages_.keep(page_key, made, made->array.size() + made->items.size() * sizeof(served_item) + 200);
  return made;
}

} // namespace sluice::sandbox
