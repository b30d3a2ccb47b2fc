#include "base/json.hpp"
#include "sandbox/ledger.hpp"

namespace sluice::sandbox {

namespace page_counts {

struct totals {
  std::uint64_t fetches = 0;
  std::uint64_t distinct = 0;
  [[nodiscard]] std::uint64_t repeated() const noexcept { return fetches - distinct; }
};

void add(totals& t, const fetch_log::of_list& l) {
  t.fetches += l.fetches;
  t.distinct += l.distinct;
}

void put(json::writer& w, const totals& t) {
  w.key("total").num(t.fetches).key("distinct").num(t.distinct);
  w.key("repeated").num(t.repeated());
}

void put_lists(json::writer& w, const world& there, const fetch_log::snapshot& log) {
  w.key("lists").arr();
  for (const auto& [l, pages_of] : log.lists) {
    totals t;
    add(t, pages_of);
    w.obj().key("connection").str(there.id_of(l.of.owner));
    w.key("resource").str(there.provider_id_of(l.of)).key("entity").str(to_string(l.kind));
    put(w, t);
    w.end();
  }
  w.end();
}

} // namespace page_counts

std::string ledger::to_json(const ledger_query& q) const {
  const auto v = judge(q);
  const auto log = fetches.all();
  json::writer w;
  w.obj().key("expected").num(v.expected).key("served").num(v.served);
  w.key("delivered").num(v.delivered).key("distinct").num(v.distinct);
  w.key("duplicates").num(v.duplicates).key("missing").num(v.missing);
  w.key("corrupted").num(v.corrupted).key("poisoned").num(v.poisoned);
  w.key("unknown").num(v.unknown);
  w.key("missing_ids").arr();
  for (const auto& id : v.missing_ids)
    w.str(id);
  w.end();
  w.key("requests").obj();
  for (std::size_t i = 0; i < request_kinds; ++i)
    w.key(counter_names[i]).num(counts.get(static_cast<counter>(i)));
  w.end();
  for (auto i = request_kinds; i < counter_names.size(); ++i)
    w.key(counter_names[i]).num(counts.get(static_cast<counter>(i)));

  w.key("rate_window_max").num(rate_window_max.load());

  w.key("page_fetches").obj();
  page_counts::totals all;
  for (const auto& [l, of_list] : log.lists)
    page_counts::add(all, of_list);
  page_counts::put(w, all);
  w.key("by_connection").obj();
  std::map<connection_ref, page_counts::totals> by_connection;
  for (const auto& [l, of_list] : log.lists)
    page_counts::add(by_connection[l.of.owner], of_list);
  for (const auto& [c, t] : by_connection)
    w.key(world_.id_of(c)).num(t.fetches);
  w.end();
  if (q.detail) page_counts::put_lists(w, world_, log);
  w.end();

  std::uint64_t lists_of_asked = 0;
  std::uint64_t lists_fetched = 0;
  for (const auto& [c, about] : log.connections) {
    if (about.asked) lists_of_asked += world_.resources(c) * world_.kinds(c.from).size();
  }
  for (const auto& [l, of_list] : log.lists)
    lists_fetched += log.connections.at(l.of.owner).asked ? 1 : 0;
  w.key("lists_fetched").num(std::uint64_t{log.lists.size()});
  w.key("lists_untouched").num(lists_of_asked - lists_fetched);

  w.key("firstFetchOrder").arr();
  for (const auto& f : log.order)
    w.str(world_.id_of(f.connection));
  w.end();
  w.key("firstFetchAt").arr();
  for (const auto& f : log.order)
    w.num(f.at_ms);
  w.end();
  w.key("firstDeliveryAt").num(first_ms_.load()).key("lastDeliveryAt").num(last_ms_.load());
  const auto marked = marked_ms_.load();
  if (marked != 0) {
    w.key("mark").obj().key("at").num(marked);
    w.key("delivered").num(delivered_.load() - delivered_at_mark_.load());
    w.key("duplicates").num(repeated_.load() - repeated_at_mark_.load());
    w.key("firstDeliveryAt").num(first_after_mark_ms_.load()).end();
  }
  return w.end().take();
}

} // namespace sluice::sandbox
