#pragma once

#include "messages/backfill.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// The books of a unit: which items were met on its pages and what became of each (I8, I10). They
/// are made from the memos of its steps alone, so a replay makes the same ones.
namespace sluice {

/// The memo of a fetch: where the page is and what was on it, never its body (B11).
struct page_memo {
  std::string cursor;                ///< that it was fetched with
  std::optional<std::string> next;   ///< nothing: the list ends here
  std::string digest;                ///< of the body
  timestamp oldest{};                ///< the earliest time of an item; `never`: no item
  std::vector<std::string> wanted;   ///< keys of the items, in the page's order
  std::vector<std::string> filtered; ///< of those outside the window or of another kind
  std::string note;                  ///< why nothing is wanted
};

template <class Fields>
void describe(Fields& f, page_memo& x) {
  f("cursor", x.cursor);
  f("next", x.next);
  f("digest", x.digest);
  f("oldest", x.oldest);
  f("ids", x.wanted);
  f("filtered", x.filtered);
  f("note", x.note);
}

/// The memo of a dispatch. Keys that were on the page when it was fetched again and not before are
/// in `added`; those that were gone by then, and not accepted before, in `missed`.
struct dispatch_memo {
  std::uint64_t delivered = 0;
  std::uint64_t skipped = 0;
  std::uint64_t gated = 0;
  std::uint64_t dead = 0;
  std::uint64_t sent = 0; ///< POSTs, repeats included
  std::vector<std::string> added;
  std::vector<std::string> added_filtered;
  std::vector<std::string> missed;
};

template <class Fields>
void describe(Fields& f, dispatch_memo& x) {
  f("delivered", x.delivered);
  f("skipped", x.skipped);
  f("gated", x.gated);
  f("deadLettered", x.dead);
  f("sent", x.sent);
  f("added", x.added);
  f("addedFiltered", x.added_filtered);
  f("missed", x.missed);
}

class unit_ledger {
public:
  /// `prefix`: of the delivery ids, for the digest.
  explicit unit_ledger(std::string prefix) : prefix_{std::move(prefix)} {}

  /// A page was fetched: its new items are served, and pending until it is dispatched.
  void fetched(const page_memo& page);
  /// The page that was fetched last is dispatched.
  void dispatched(const dispatch_memo& what);
  /// The counts after a dispatch that is not in the journal yet.
  [[nodiscard]] unit_counts counts_after(const dispatch_memo& what) const;

  /// Must the item be dispatched: is it new on the page that was fetched last, or was it missed on
  /// an earlier one?
  [[nodiscard]] bool is_due(std::string_view key) const;
  [[nodiscard]] bool knows(std::string_view key) const;
  /// Did the newest page bring anything that was not known?
  [[nodiscard]] bool found_new() const noexcept { return found_new_; }

  [[nodiscard]] std::uint32_t pages() const noexcept { return pages_; }
  [[nodiscard]] const unit_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] const std::string& note() const noexcept { return note_; }
  /// Over the delivery ids that were served and wanted; the same in any order.
  [[nodiscard]] std::string digest() const;
  /// What is pending of the newest page counts as delivered, as far as it was acknowledged.
  void settle_open_page(std::uint64_t acknowledged);

private:
  enum class fate : std::uint8_t { filtered, due, settled, missed };

  void serve(const std::string& key, fate what);

  std::string prefix_;
  std::unordered_map<std::uint64_t, fate> items_; ///< by hash of the key
  std::vector<std::uint64_t> open_;               ///< due on the newest page
  unit_counts counts_;
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
  std::uint32_t pages_ = 0;
  std::string note_;
  bool found_new_ = false;
};

} // namespace sluice
