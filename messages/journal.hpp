#pragma once

#include "base/boxed.hpp"
#include "base/time.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/run.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What can be written to the journal. All writes are batches of these operations; a batch is
/// committed whole or not at all.
namespace sluice {

/// What a step record belongs to. The numbers are on disk.
enum class step_kind : std::uint8_t {
  work = 0,
  sleep = 1,
  send = 2,
  wait = 3,
  invoke = 4,
  version = 5,
};

enum class step_status : std::uint8_t {
  started = 0, ///< a step that must not be repeated is under way
  waiting = 1, ///< for a time, an event, a child, a gate or its next attempt
  done = 2,
  failed = 3,
};

[[nodiscard]] std::string_view to_string(step_kind k) noexcept;
[[nodiscard]] std::string_view to_string(step_status s) noexcept;

/// The ordinal of records that are found by name: `version` records.
inline constexpr std::uint32_t no_ordinal = 0xFFFF'FFFF;
/// Where the ordinals of `on_failure` begin (P13).
inline constexpr std::uint32_t failure_ordinal = 0x8000'0000;

/// What the journal knows of one ask of one run. The newest record of an ordinal is its row.
struct step_record {
  run_id run;
  std::uint32_t ordinal = 0;
  std::uint32_t attempt = 0; ///< failed attempts so far
  step_kind kind = step_kind::work;
  step_status status = step_status::done;
  timestamp at{};          ///< when this was recorded; of a wait: since when
  timestamp until{};       ///< of a wait: its end; `never`: none
  std::uint64_t gated = 0; ///< milliseconds that the run had waited at gates until then (P12)
  std::string name;
  std::string payload; ///< JSON text: the result, the error, or what is waited for

  friend bool operator==(const step_record&, const step_record&) = default;
};

struct put_step {
  step_record step;
  friend bool operator==(const put_step&, const put_step&) = default;
};

/// Writes an event. The first record of a run must be its `run.requested` event.
struct put_event {
  boxed<event> what;
};

/// Writes or replaces the row of a run. A terminal row is never replaced (I22): the store answers
/// such a batch with `failed`.
struct put_run {
  boxed<run_row> row;
};

/// The earliest instant at which the run wants to be woken; `never` takes the wake-up away.
struct set_wake {
  run_id run;
  timestamp at{};
};

/// Which items of a page were acknowledged: a bitmap, byte 0 bit 0 is item 0. The newest record of
/// (unit, page) holds.
struct put_marks {
  run_id run;
  std::string unit;
  std::uint32_t page = 0;
  std::string bitmap;

  friend bool operator==(const put_marks&, const put_marks&) = default;
};

/// The small tables: rows found by key or by a prefix of it. The numbers are on disk.
enum class table : std::uint8_t {
  sent = 0,     ///< scope, 0x00, run and page: ids and payload hashes that went out (B20)
  gated = 1,    ///< scope, 0x00, item: events of a disabled type, with payload (B21)
  cert = 2,     ///< run id, unit: the certificate of a unit
  limit = 3,    ///< state of token buckets and windows (P10, H7)
  circuit = 4,  ///< state of circuits (H4)
  dlq = 5,      ///< dead letters
  schedule = 6, ///< cron schedules
  node = 7,     ///< what this node remembers of itself: `clean` after an ordered shutdown
};
inline constexpr std::size_t table_count = 8;

[[nodiscard]] std::string_view to_string(table t) noexcept;

struct put_row {
  table where = table::limit;
  std::string key; ///< 1 to `row_key_bytes_max` bytes
  std::string value;
  friend bool operator==(const put_row&, const put_row&) = default;
};

struct del_row {
  table where = table::limit;
  std::string key;
  friend bool operator==(const del_row&, const del_row&) = default;
};

inline constexpr std::size_t row_key_bytes_max = 400;

/// Removes up to `records_max` log records of an ended run; when none is left, its row, its
/// certificates and its idempotency keys too. A run that has not ended, or is unknown, is left
/// alone.
struct trim_run {
  run_id run;
  std::uint32_t records_max = 1000;
};

/// Removes up to `records_max` records that belong to no run (batch records, events without run)
/// and lie below `below` and below the first record of every run that is kept.
struct trim_log {
  std::uint64_t below = 0;
  std::uint32_t records_max = 1000;
};

using op = std::variant<put_step, put_event, put_run, set_wake, put_marks, put_row, del_row,
                        trim_run, trim_log>;

/// Does this operation take a position in the log?
[[nodiscard]] inline bool is_logged(const op& o) noexcept {
  return std::holds_alternative<put_step>(o) || std::holds_alternative<put_event>(o)
         || std::holds_alternative<put_marks>(o);
}

} // namespace sluice
