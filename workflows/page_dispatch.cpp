#include "workflows/page_dispatch.hpp"

#include "base/hash.hpp"
#include "base/json.hpp"
#include "workflows/context.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sluice {

namespace {

constexpr std::size_t rows_per_read = 500;

bool has_mark(std::string_view bitmap, std::size_t item) {
  return item / 8 < bitmap.size()
         && (static_cast<unsigned char>(bitmap[item / 8]) >> (item % 8)) & 1;
}

/// Only the places of the memo mean the same in every life: what a refetch added may differ.
std::string first_marks(std::string bitmap, std::size_t items) {
  bitmap.resize(std::min(bitmap.size(), (items + 7) / 8));
  if (items % 8 != 0 && bitmap.size() == (items + 7) / 8)
    bitmap.back() =
      static_cast<char>(static_cast<unsigned char>(bitmap.back()) & ((1U << (items % 8)) - 1));
  return bitmap;
}

/// Rows of `table::sent` of one unit share this.
std::string sent_scope(const entity_request& unit) {
  std::string key = unit.installation;
  for (const auto& part : {unit.resource.provider_id, unit.entity}) {
    key.push_back('\0');
    key.append(part);
  }
  key.push_back('\0');
  return key;
}

void put_number(std::string& to, std::uint64_t n) {
  for (int shift = 0; shift < 64; shift += 8)
    to.push_back(static_cast<char>(static_cast<unsigned char>(n >> shift)));
}

std::uint64_t number_at(std::string_view from, std::size_t at) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < 8; ++i)
    n |= std::uint64_t{static_cast<unsigned char>(from[at + i])} << (8 * i);
  return n;
}

/// A row of `table::sent`: when, then pairs of hashes.
class sent_list {
public:
  explicit sent_list(timestamp now) {
    put_number(bytes_, static_cast<std::uint64_t>(now.time_since_epoch().count()));
  }
  void add(std::uint64_t key, std::uint64_t item) {
    put_number(bytes_, key);
    put_number(bytes_, item);
  }
  [[nodiscard]] bool empty() const { return bytes_.size() == 8; }
  std::string take() { return std::move(bytes_); }

private:
  std::string bytes_;
};

/// What earlier runs of this unit sent, and are remembered for.
task<void> load_sent(context& ctx, unit_at_work& work) {
  const auto scope = sent_scope(work.unit);
  const auto mine = scope + to_string(ctx.run().id);
  const auto oldest = ctx.clock() - work.config.sent_kept;
  std::unordered_map<std::uint64_t, std::uint64_t> sent;
  std::string after;
  while (true) {
    auto page = co_await ctx.read(load_table{table::sent, scope, after, rows_per_read});
    for (const auto& row : page.rows) {
      after = row.key;
      if (row.value.size() < 8 || row.key.starts_with(mine)) continue;
      const timestamp at{duration{static_cast<std::int64_t>(number_at(row.value, 0))}};
      if (at < oldest) {
        work.sent_long_ago.push_back(row.key);
        continue;
      }
      for (std::size_t i = 8; i + 16 <= row.value.size(); i += 16)
        sent[number_at(row.value, i)] = number_at(row.value, i + 8);
    }
    if (page.rows.size() < rows_per_read) break;
  }
  work.sent = std::move(sent);
}

std::string body_of(const unit_at_work& work, const page_item& item) {
  std::string body;
  body.reserve(item.raw.size() + 600);
  body += R"({"connectionId":)";
  body += json::encode(work.unit.installation);
  body += R"(,"orgId":)";
  body += json::encode(work.unit.org);
  body += R"(,"deliveryId":)";
  body += json::encode(item.id);
  body += R"(,"eventType":)";
  body += json::encode(item.event_type);
  body += R"(,"payload":)";
  work.from.write_payload(body, work.scope, item);
  body += R"(,"receivedAt":)";
  return body;
}

/// What is stored of an event that is not sent: for the dead letters and for what is gated.
struct kept_parcel {
  std::string run;
  std::string unit;
  std::string provider;
  std::string delivery_id;
  std::string event_type;
  timestamp at{};
  std::uint32_t attempts = 0;
  int status = 0;
  std::string error;
  std::string body; ///< as `parcel::body`
};

template <class Fields>
void describe(Fields& f, kept_parcel& x) {
  f("run", x.run);
  f("unit", x.unit);
  f("provider", x.provider);
  f("deliveryId", x.delivery_id);
  f("eventType", x.event_type);
  f("at", x.at);
  f("attempts", x.attempts);
  f("status", x.status);
  f("error", x.error);
  f("body", x.body);
}

kept_parcel keep(const context& ctx, const unit_at_work& work, const page_item& item,
                 std::string body) {
  kept_parcel kept;
  kept.run = to_string(ctx.run().id);
  kept.unit = work.id;
  kept.provider = work.unit.provider;
  kept.delivery_id = item.id;
  kept.event_type = item.event_type;
  kept.at = ctx.clock();
  kept.body = std::move(body);
  return kept;
}

/// What is done with each item of a page; places are those of the memo, then what was added.
struct page_plan {
  std::shared_ptr<page_parcels> parcels = std::make_shared<page_parcels>();
  std::vector<const page_item*> items; ///< by place; null: not on the page any more
  std::vector<bool> sends;             ///< goes out now, or went out and was acknowledged
  dispatch_memo memo;
  std::vector<op> with;
};

class planner {
public:
  planner(const context& ctx, const unit_at_work& work, const page_memo& memo,
          const unit_ledger& books, std::string marks)
    : ctx_{ctx}, work_{work}, books_{books} {
    plan_.parcels->accepted = std::move(marks);
    for (const auto& key : memo.wanted) {
      const bool first = books.is_due(key) && places_.emplace(key, plan_.items.size()).second;
      if (first)
        add_place(key);
      else
        add_settled();
    }
  }

  page_plan make() {
    for (const auto& item : work_.page->list.items)
      place(item);
    for (std::size_t i = 0; i < plan_.items.size(); ++i)
      decide(i);
    return std::move(plan_);
  }

private:
  void add_place(const std::string& key) {
    plan_.items.push_back(nullptr);
    plan_.sends.push_back(false);
    keys_.push_back(key);
    plan_.parcels->items.emplace_back();
  }
  /// Was dealt with on an earlier page.
  void add_settled() { add_place({}); }

  void place(const page_item& item) {
    if (!item.wanted) {
      if (!books_.knows(item.key)) plan_.memo.added_filtered.push_back(item.key);
      return;
    }
    auto known = places_.find(item.key);
    if (known != places_.end()) {
      plan_.items[known->second] = &item;
    } else if (!books_.knows(item.key)) {
      places_.emplace(item.key, plan_.items.size());
      plan_.memo.added.push_back(item.key);
      add_place(item.key);
      plan_.items.back() = &item;
    }
  }

  void decide(std::size_t i) {
    if (keys_[i].empty()) return;
    const bool before = has_mark(plan_.parcels->accepted, i);
    const auto* item = plan_.items[i];
    if (item == nullptr) {
      if (before)
        plan_.sends[i] = true;
      else
        plan_.memo.missed.push_back(keys_[i]);
      return;
    }
    auto sent = work_.sent->find(hash64(item->key));
    if (sent != work_.sent->end() && sent->second == hash64(item->raw)) {
      ++plan_.memo.skipped;
      return;
    }
    const auto& off = work_.unit.disabled_types;
    if (std::any_of(off.begin(), off.end(), [&](const std::string& type) {
          return type == item->event_type || type == work_.unit.entity;
        })) {
      ++plan_.memo.gated;
      const auto kept = keep(ctx_, work_, *item, body_of(work_, *item));
      const auto key = work_.unit.installation + '\0' + item->event_type + '\0' + item->id;
      plan_.with.push_back(put_row{table::gated, key, json::encode(kept)});
      return;
    }
    plan_.sends[i] = true;
    if (before) return;
    plan_.parcels->items[i] = {item->id, body_of(work_, *item)};
  }

  const context& ctx_;
  const unit_at_work& work_;
  const unit_ledger& books_;
  page_plan plan_;
  std::vector<std::string> keys_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// The books of a page that was delivered: what went out, and what the gateway refused (B18).
void settle(const context& ctx, const unit_at_work& work, page_plan& plan,
            const page_delivered& done, std::uint32_t number) {
  std::vector<bool> refused(plan.items.size(), false);
  for (const auto& bad : done.refused) {
    refused[bad.item] = true;
    const auto& item = *plan.items[bad.item];
    auto kept = keep(ctx, work, item, body_of(work, item));
    kept.attempts = bad.attempts;
    kept.status = bad.status;
    kept.error = bad.error;
    plan.with.push_back(
      put_row{table::dlq, "dispatch/" + kept.run + "/" + item.id, json::encode(kept)});
    ++plan.memo.dead;
  }
  sent_list sent{ctx.clock()};
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    if (!plan.sends[i] || refused[i]) continue;
    ++plan.memo.delivered;
    if (const auto* item = plan.items[i]) sent.add(hash64(item->key), hash64(item->raw));
  }
  plan.memo.sent = done.sent;
  if (!sent.empty())
    plan.with.push_back(put_row{
      table::sent, sent_scope(work.unit) + to_string(ctx.run().id) + "/" + std::to_string(number),
      sent.take()});
}

} // namespace

std::uint64_t count_marks(std::string_view bitmap) {
  std::uint64_t count = 0;
  for (auto byte : bitmap)
    count += static_cast<std::uint64_t>(std::popcount(static_cast<unsigned char>(byte)));
  return count;
}

unit_row row_of(const context& ctx, const entity_request& unit, const unit_ledger& books,
                timestamp now) {
  unit_row row;
  row.unit = unit_id(unit.resource.id, unit.entity);
  row.run = to_string(ctx.run().id);
  row.retry_of = unit.retry_of;
  row.resource = unit.resource;
  row.entity = unit.entity;
  row.since = unit.since;
  row.status = run_status::running;
  row.pages = books.pages();
  row.counts = books.counts();
  row.digest = books.digest();
  row.started_at = ctx.run().started_at;
  row.updated_at = now;
  row.ended_at = never;
  row.note = books.counts().served == books.counts().filtered ? books.note() : std::string{};
  return row;
}

op put_unit(const entity_request& unit, const unit_row& row) {
  return put_row{table::cert, unit_key(run_id{parse_uuid(unit.run).value_or(uuid{})}, row.unit),
                 json::encode(row)};
}

task<recorded<dispatch_memo>> dispatch_page(context& ctx, unit_at_work& work, const page_memo& memo,
                                            std::uint32_t number, const unit_ledger& books) {
  std::string marks;
  if (!work.page) {
    // After a restart: what was acknowledged of this page, and the page again (B16).
    auto known = co_await ctx.read(load_marks{ctx.run().id});
    for (auto& m : known.marks)
      if (m.page == number && m.unit == work.id)
        marks = first_marks(std::move(m.bitmap), memo.wanted.size());
    work.page = co_await fetch_page(ctx, work.from, work.scope, memo.cursor, slot_use::keep);
  }
  if (!work.sent) co_await load_sent(ctx, work);

  auto plan = planner{ctx, work, memo, books, std::move(marks)}.make();
  auto& parcels = *plan.parcels;
  parcels.run = ctx.run().id;
  parcels.tenant = work.unit.installation;
  parcels.provider = work.unit.provider;
  parcels.unit = work.id;
  parcels.page = number;
  page_delivered done;
  done.accepted = parcels.accepted;
  const bool any = std::any_of(parcels.items.begin(), parcels.items.end(),
                               [](const parcel& p) { return !p.body.empty(); });
  if (any) done = co_await ctx.deliver(plan.parcels);
  settle(ctx, work, plan, done, number);

  for (auto& key : std::exchange(work.sent_long_ago, {}))
    plan.with.push_back(del_row{table::sent, std::move(key)});
  auto row = row_of(ctx, work.unit, books, ctx.clock());
  row.counts = books.counts_after(plan.memo);
  row.cursor = memo.next.value_or("");
  plan.with.push_back(put_unit(work.unit, row));
  co_return recorded<dispatch_memo>{std::move(plan.memo), std::move(plan.with)};
}

} // namespace sluice
