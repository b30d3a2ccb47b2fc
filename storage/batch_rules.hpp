#pragma once

#include "messages/ids.hpp"
#include "storage/store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

enum class run_state : std::uint8_t { unknown, live, ended };

/// What the rules ask a store about what is already in it.
class batch_context {
public:
  virtual ~batch_context() = default;
  virtual run_state state_of(const run_id& run) = 0;
  virtual bool key_used(std::string_view idempotency_key) = 0;
};

/// What is wrong with the operations of a batch; nothing when it may be written.
///
/// A run begins with its `run.requested` event and has its row in the same batch. Records, wake-ups
/// and rows are for live runs only; the batch that ends a run may still write to it. A row that is
/// terminal never changes (I22). An idempotency key is used once.
[[nodiscard]] std::optional<std::string> broken_rule(const batch& b, batch_context& in);

/// May a batch of these be written when space is short, because it only makes room?
[[nodiscard]] bool only_removes(const std::vector<op>& ops) noexcept;

/// How many positions of the log the batch takes: its own record and one per logged operation.
[[nodiscard]] std::uint64_t positions_of(const batch& b) noexcept;

} // namespace sluice
