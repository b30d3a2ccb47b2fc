#pragma once

#include "sandbox/counters.hpp"
#include "sandbox/delivery_table.hpp"
#include "sandbox/envelope.hpp"
#include "sandbox/fetch_log.hpp"
#include "sandbox/history.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>

namespace sluice::sandbox {

/// One item of a page that went out whole.
struct served_item {
  std::uint64_t id = 0; ///< hash of the delivery id
  std::uint64_t digest = 0;
  std::uint32_t bytes = 0;
  std::uint32_t window_s = 0;
  bool moved = false; ///< not as it was at the start
};

/// Which lists the ledger expects to be delivered.
enum class ledger_scope : std::uint8_t {
  fetched,     ///< those of which a page was asked for
  connections, ///< all lists of connections that were asked for
  all,         ///< all that there are
};

struct ledger_query {
  std::optional<std::int64_t> since_ms; ///< the window of all lists; nothing: as was asked for
  ledger_scope scope = ledger_scope::fetched;
  bool detail = false; ///< with a line for each list
};

/// What the ledger says of the events.
struct ledger_verdict {
  std::uint64_t expected = 0;   ///< distinct ids that must be at the gateway, poison aside
  std::uint64_t served = 0;     ///< of these, the ones that were on a page that went out
  std::uint64_t missing = 0;    ///< of these, the ones that the gateway never took
  std::uint64_t delivered = 0;  ///< events that the gateway took
  std::uint64_t distinct = 0;   ///< their distinct ids
  std::uint64_t duplicates = 0; ///< events taken again
  std::uint64_t corrupted = 0;  ///< ids of which other bytes were taken than were ever served
  std::uint64_t unknown = 0;    ///< ids taken that were never served
  std::uint64_t poisoned = 0;   ///< poison ids that the gateway was asked to take
  std::vector<std::string> missing_ids; ///< the first few
};

/// What was served, and what arrived. Keeps hashes: 32 bytes for each delivery id.
///
/// Expected is every item of the lists in scope that existed at the start and lies in the window,
/// and every item that was changed or made since and was served. The window of a list begins at the
/// query's `since`, else at the earliest `since` that a request of its connection named, else it
/// holds everything. Items within a second of its beginning may come or not: providers count in
/// seconds. Poison ids are never expected.
class ledger {
public:
  ledger(const world& w, const history& h) : world_{w}, history_{h} {}

  [[nodiscard]] static std::uint64_t id_of(std::string_view delivery) noexcept;
  [[nodiscard]] bool is_poison(std::uint64_t id) const noexcept;

  void served(list_ref l, std::span<const served_item> items);

  /// The length of the item that was served under this id; 0 when there was none.
  [[nodiscard]] std::size_t length_of(std::uint64_t id) const;
  /// How often the gateway was asked to take this id before.
  std::uint32_t asked(std::uint64_t id);
  /// The gateway takes the event. How often it had taken this id before.
  std::uint32_t accept(std::uint64_t id, std::uint64_t digest, timestamp now);
  /// Are these the bytes of some version of the item that was served?
  [[nodiscard]] bool was_served(std::uint64_t id, std::uint64_t digest) const;
  [[nodiscard]] std::uint64_t delivered() const noexcept { return delivered_; }

  /// Later deliveries are also counted from here: for tests that kill a node.
  void mark(timestamp now);
  void reset();

  [[nodiscard]] ledger_verdict judge(const ledger_query& q) const;
  [[nodiscard]] std::string to_json(const ledger_query& q) const;

  counters counts;
  fetch_log fetches;
  /// The most requests of one connection that came in one window, wherever it begins.
  std::atomic<std::uint64_t> rate_window_max{0};

private:
  struct moved_item {
    list_ref list;
    std::uint32_t window_s = 0;
  };
  [[nodiscard]] std::vector<list_ref> lists_in(ledger_scope scope) const;
  void expect(ledger_verdict& v, std::uint64_t id, const std::string& name) const;

  const world& world_;
  const history& history_;
  delivery_table table_;
  std::atomic<std::uint64_t> delivered_{0};
  std::atomic<std::uint64_t> repeated_{0};
  std::atomic<std::int64_t> first_ms_{0};
  std::atomic<std::int64_t> last_ms_{0};
  std::atomic<std::int64_t> marked_ms_{0};
  std::atomic<std::int64_t> first_after_mark_ms_{0};
  std::atomic<std::uint64_t> delivered_at_mark_{0};
  std::atomic<std::uint64_t> repeated_at_mark_{0};
  mutable std::mutex mutex_; ///< of what follows: only items that changed since the start
  std::map<std::uint64_t, moved_item> moved_;
  std::unordered_set<std::uint64_t> older_; ///< id and digest, mixed, of earlier versions
};

} // namespace sluice::sandbox
