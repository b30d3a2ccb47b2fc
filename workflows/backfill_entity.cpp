#include "base/hash.hpp"
#include "base/json.hpp"
#include "rules/unit_ledger.hpp"
#include "workflows/backfill.hpp"
#include "workflows/context.hpp"
#include "workflows/page_dispatch.hpp"

#include <algorithm>

namespace sluice {

namespace {

/// How often a list by creation is read again because it moved (B25).
constexpr int rereads_max = 3;

page_memo memo_of(const fetched_page& page) {
  page_memo memo;
  memo.cursor = page.cursor;
  memo.next = page.list.next;
  memo.digest = to_hex(hash64(page.response.body));
  memo.oldest = never;
  memo.note = page.list.why_empty;
  for (const auto& item : page.list.items) {
    (item.wanted ? memo.wanted : memo.filtered).push_back(item.key);
    if (memo.oldest == never || item.time < memo.oldest) memo.oldest = item.time;
  }
  return memo;
}

/// What all delivery ids of a unit begin with; only their digest needs it.
std::string digest_prefix(const entity_request& unit) {
  return unit.installation + "-" + unit.resource.provider_id + "-" + unit.entity + "-";
}

/// Reads and sends page after page. Lives in the frame of the workflow.
class page_walk {
public:
  page_walk(context& ctx, unit_at_work& work, unit_ledger& books)
    : ctx_{ctx}, work_{work}, books_{books} {}

  /// One page: its memo, then its events. `prefix` tells the first reading from later ones.
  task<page_memo> page(std::string prefix, std::uint32_t number, std::string cursor) {
    if (++pages_ > work_.config.pages_max)
      throw non_retriable{"too_large", "the list has more than "
                                         + std::to_string(work_.config.pages_max) + " pages"};
    const auto name = work_.unit.entity + "-p" + std::to_string(number);
    auto fetch = [&]() -> task<page_memo> {
      work_.page = co_await fetch_page(ctx_, work_.from, work_.scope, cursor, slot_use::give_back);
      co_return memo_of(*work_.page);
    };
    page_memo memo = co_await ctx_.step(prefix + "fetch-" + name, fetch);
    books_.fetched(memo);
    const auto mark = pages_;
    auto dispatch = [&] { return dispatch_page(ctx_, work_, memo, mark, books_); };
    const dispatch_memo sent = co_await ctx_.step(prefix + "dispatch-" + name, dispatch);
    work_.page.reset();
    books_.dispatched(sent);
    co_return memo;
  }

  /// The whole list from a place on; the last page's memo, and how many there were.
  task<page_memo> first_reading(std::string cursor) {
    page_memo last;
    std::optional<std::string> at = std::move(cursor);
    for (read_ = 0; at; at = last.next)
      last = co_await page("", ++read_, *at);
    co_return last;
  }

  /// By update: what changed while we read has moved to the front (B25).
  task<void> reread_front(std::string first, timestamp began) {
    std::optional<std::string> at = std::move(first);
    for (std::uint32_t n = 1; at; ++n) {
      const auto memo = co_await page("re", n, *at);
      const bool old = memo.oldest == never || memo.oldest < began;
      if (old && nothing_pending()) break;
      at = memo.next;
    }
  }

  /// By creation: if the last page has moved, so may others have (B25).
  task<void> reread_if_moved(std::string first, page_memo last) {
    auto check = [&]() -> task<page_memo> {
      auto again =
        co_await fetch_page(ctx_, work_.from, work_.scope, last.cursor, slot_use::give_back);
      co_return memo_of(*again);
    };
    const page_memo again = co_await ctx_.step("check-" + work_.unit.entity, check);
    const bool same = again.wanted == last.wanted && again.filtered == last.filtered && !again.next;
    if (same && nothing_pending()) co_return;
    for (int pass = 1; pass <= rereads_max; ++pass) {
      bool news = false;
      std::optional<std::string> at = first;
      for (std::uint32_t n = 1; at; ++n) {
        const auto memo = co_await page("re" + std::to_string(pass) + "-", n, *at);
        news = news || books_.found_new();
        at = memo.next;
      }
      if (!news && nothing_pending()) co_return;
    }
  }

  [[nodiscard]] std::uint32_t pages_of_first_reading() const noexcept { return read_; }
  /// An item that was gone when its page was fetched again is looked for on later ones.
  [[nodiscard]] bool nothing_pending() const noexcept { return books_.counts().pending == 0; }

private:
  context& ctx_;
  unit_at_work& work_;
  unit_ledger& books_;
  std::uint32_t pages_ = 0;
  std::uint32_t read_ = 0;
};

task<void> read_all(context& ctx, unit_at_work& work, unit_ledger& books) {
  const auto began = ctx.now();
  auto first = work.from.first_cursor(work.scope);
  if (!first) throw non_retriable{"bad_input", detail_of(first.error())};
  page_walk walk{ctx, work, books};
  const auto last =
    co_await walk.first_reading(work.unit.cursor.empty() ? *first : work.unit.cursor);
  // Within one page nothing can shift.
  const bool one_page = walk.pages_of_first_reading() < 2 && work.unit.cursor.empty();
  if (one_page && walk.nothing_pending()) co_return;
  if (work.from.order(work.unit.entity) == list_order::by_update)
    co_await walk.reread_front(*first, began);
  else
    co_await walk.reread_if_moved(*first, last);
}

std::vector<event_draft> completed_event(const context& ctx, const unit_row& row) {
  return {{std::string{entity_completed_kind}, to_string(ctx.run().id), json::encode(row)}};
}

/// Of a unit that did not come to its end: the acknowledged part of the page under way.
task<recorded<unit_row>> certify(context& ctx, const entity_request& unit, unit_ledger& books,
                                 run_status status, std::optional<failure> why) {
  if (books.counts().pending > 0) {
    const auto known = co_await ctx.read(load_marks{ctx.run().id});
    for (const auto& m : known.marks)
      if (m.page == books.pages()) books.settle_open_page(count_marks(m.bitmap));
  }
  auto row = row_of(ctx, unit, books, ctx.clock());
  row.status = status;
  row.ended_at = ctx.clock();
  row.error = std::move(why);
  co_return recorded<unit_row>{row, {put_unit(unit, row)}};
}

} // namespace

run_status unit_status(const unit_row& row) {
  return row.status;
}

task<unit_row> backfill_entity(context& ctx, entity_request unit, backfill_parts parts) {
  const auto* from = parts->connectors->find(unit.provider);
  if (from == nullptr)
    throw non_retriable{"unknown_provider", "no connector for '" + unit.provider + "'"};
  unit_at_work work{*parts, *from, unit, {}, unit_id(unit.resource.id, unit.entity), {}, {}, {}};
  work.scope.installation = unit.installation;
  work.scope.external_id = unit.external_id;
  work.scope.resource_id = unit.resource.provider_id;
  work.scope.resource_name = unit.resource.name;
  work.scope.entity = unit.entity;
  work.scope.since = unit.since;
  if (auto own = parts->base_urls.find(unit.provider); own != parts->base_urls.end())
    work.scope.base_url = own->second;

  unit_ledger books{digest_prefix(unit)};
  std::optional<failure> why;
  try {
    co_await read_all(ctx, work, books);
  } catch (const step_failed& failed) {
    why = failed.why();
  } catch (const non_retriable& failed) {
    why = failure{failed.code(), failed.what(), {}, false};
  }
  auto status = run_status::failed;
  if (!why && books.counts().pending > 0)
    why = failure{"items_missing",
                  std::to_string(books.counts().pending)
                    + " items were listed once and never seen again",
                  {},
                  false};
  if (!why && !books.counts().balances())
    why = failure{"unbalanced", "the books of the unit do not balance", {}, false};
  if (!why) status = books.counts().dead > 0 ? run_status::partial : run_status::completed;

  auto close = [&] { return certify(ctx, unit, books, status, why); };
  const unit_row row = co_await ctx.step("certify", close);
  co_await ctx.send("entity-completed", completed_event(ctx, row));
  co_return row;
}

task<void> entity_failed(context& ctx, entity_request unit, run_end how) {
  // The frames are gone: the books are made again from the memos.
  unit_ledger books{digest_prefix(unit)};
  bool told = false;
  std::optional<std::uint32_t> after;
  do {
    const auto part = co_await ctx.recall(after);
    for (const auto& step : part.steps) {
      if (step.status != step_status::done) continue;
      told = told || step.kind == step_kind::send;
      if (step.name.find("dispatch-") != std::string::npos) {
        if (auto memo = json::decode<dispatch_memo>(step.payload)) books.dispatched(*memo);
      } else if (step.name.find("fetch-") != std::string::npos) {
        if (auto memo = json::decode<page_memo>(step.payload)) books.fetched(*memo);
      }
    }
    after = part.next;
  } while (after);
  if (told) co_return;
  const auto status = how.why == ending::cancel ? run_status::cancelled : run_status::failed;
  auto close = [&] { return certify(ctx, unit, books, status, how.error); };
  const unit_row row = co_await ctx.step("certify", close);
  co_await ctx.send("entity-completed", completed_event(ctx, row));
}

} // namespace sluice
