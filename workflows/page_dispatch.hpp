#pragma once

#include "connectors/connector.hpp"
#include "rules/unit_ledger.hpp"
#include "workflows/backfill.hpp"
#include "workflows/page_fetch.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

/// A unit at work: what never changes, and what one life of its run keeps in memory. All of the
/// latter can be had again from the provider and the store.
struct unit_at_work {
  const backfill_config& config;
  const connector& from;
  const entity_request& unit;
  unit_scope scope;
  std::string id;

  std::shared_ptr<fetched_page> page; ///< the newest; null: it must be fetched again
  /// What earlier runs sent: hash of the key → hash of the item (B20). Nothing: not loaded yet.
  std::optional<std::unordered_map<std::uint64_t, std::uint64_t>> sent;
  std::vector<std::string> sent_long_ago; ///< keys of rows that are to be removed
};

/// Sends what the page with this memo has to send; for the work of a step. The operations that come
/// back are committed with its memo: what was sent, gated and dead, and the unit's row.
task<recorded<dispatch_memo>> dispatch_page(context& ctx, unit_at_work& work, const page_memo& memo,
                                            std::uint32_t number, const unit_ledger& books);

/// How many items of a page were acknowledged, as the marks say.
[[nodiscard]] std::uint64_t count_marks(std::string_view bitmap);

/// The unit's row as it stands, without status and end.
[[nodiscard]] unit_row row_of(const context& ctx, const entity_request& unit,
                              const unit_ledger& books, timestamp now);
[[nodiscard]] op put_unit(const entity_request& unit, const unit_row& row);

} // namespace sluice
