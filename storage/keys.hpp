#pragma once

#include "base/time.hpp"
#include "messages/ids.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// How keys of the embedded store look and sort: big-endian numbers, raw UUIDs, text.
/// docs/journal-format.md has the grammar.
namespace sluice::keys {

/// A key of fixed size, used as the bytes that it is.
template <std::size_t N>
struct fixed {
  std::array<char, N> bytes{};
  operator std::string_view() const noexcept { return {bytes.data(), N}; }
};

/// Where a log record lies and whose it is. `run` is the position of the run's first record,
/// 0 for a record that belongs to none, so that a damaged value still names its run (F23).
struct log_position {
  std::uint64_t seq = 0;
  std::uint64_t run = 0;

  friend bool operator==(const log_position&, const log_position&) = default;
};

[[nodiscard]] fixed<8> number(std::uint64_t n) noexcept;
[[nodiscard]] fixed<16> position(log_position p) noexcept;
[[nodiscard]] fixed<16> run(const run_id& id) noexcept;
/// Instants before 1970 sort before those after.
[[nodiscard]] fixed<8> instant(timestamp t) noexcept;

/// Nothing when the key does not have the right size.
[[nodiscard]] std::optional<std::uint64_t> number_from(std::string_view key) noexcept;
[[nodiscard]] std::optional<log_position> position_from(std::string_view key) noexcept;
[[nodiscard]] std::optional<run_id> run_from(std::string_view key) noexcept;
[[nodiscard]] std::optional<timestamp> instant_from(std::string_view key) noexcept;

/// Which list of an ended run a chunk belongs to. The numbers are on disk.
enum class seq_list : std::uint8_t { others = 0, steps = 1 };

/// A chunk of the seq list of an ended run: `first` is the chunk's count (others) or the first
/// ordinal in it (steps).
[[nodiscard]] fixed<21> chunk(const run_id& id, seq_list list, std::uint32_t first) noexcept;

struct chunk_name {
  run_id run;
  seq_list list = seq_list::others;
  std::uint32_t first = 0;
};
[[nodiscard]] std::optional<chunk_name> chunk_from(std::string_view key) noexcept;

/// The key of an idempotency key: its text, or its SHA-256 when LMDB would not take the text.
[[nodiscard]] std::string idempotency(std::string_view key);

/// What the keys of a run's certificates in `table::cert` begin with: the run id as text.
[[nodiscard]] std::string cert_prefix(const run_id& id);

} // namespace sluice::keys
