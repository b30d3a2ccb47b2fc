#pragma once

#include "base/error.hpp"
#include "messages/event.hpp"
#include "messages/journal.hpp"
#include "messages/run.hpp"
#include "storage/keys.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// How values look on disk: one byte of version, one of kind, a checksum over key and value, then
/// the frame of that kind. Reading never trusts a byte. docs/journal-format.md has the grammar.
namespace sluice::codec {

/// What a value holds. The numbers are on disk; those up to `marks` lie in the log.
enum class value_kind : std::uint8_t {
  batch = 1,
  step = 2,
  event = 3,
  marks = 4,
  run = 5,
  row = 6,
  seqs = 7,
};

/// Raised when a frame changes in a way that older builds cannot read.
inline constexpr std::uint8_t version = 1;
/// Version, kind, checksum.
inline constexpr std::size_t header_bytes = 10;

/// The first record of every batch.
struct batch_record {
  batch_id id;
  std::uint64_t epoch = 0;
  timestamp at{};
  std::uint64_t records = 0; ///< that follow it

  friend bool operator==(const batch_record&, const batch_record&) = default;
};

/// What a value's checksum is mixed with, so that a value under another key fails it.
[[nodiscard]] std::uint64_t seed_of(keys::log_position at) noexcept;
[[nodiscard]] std::uint64_t seed_of(std::string_view key) noexcept;

/// Fills the header in front of a frame of `value_bytes - header_bytes`.
void seal(char* value, std::size_t value_bytes, value_kind kind, std::uint64_t seed) noexcept;

/// A value that passed its checksum.
struct opened {
  value_kind kind = value_kind::batch;
  std::string_view frame;
};

/// `errc::corrupt` when the checksum fails, `errc::newer_format` when it holds and the version is
/// one that this build does not know.
[[nodiscard]] result<opened> open(std::string_view value, std::uint64_t seed);

// -- log records: measure, then write in place -----------------------------------

[[nodiscard]] std::size_t bytes_of(const batch_record& x) noexcept;
[[nodiscard]] std::size_t bytes_of(const step_record& x) noexcept;
[[nodiscard]] std::size_t bytes_of(const put_marks& x) noexcept;
/// `head` is `event_head(x)`, made once.
[[nodiscard]] std::size_t bytes_of(const event& x, std::string_view head) noexcept;

void write(char* out, keys::log_position at, const batch_record& x) noexcept;
void write(char* out, keys::log_position at, const step_record& x) noexcept;
void write(char* out, keys::log_position at, const put_marks& x) noexcept;
void write(char* out, keys::log_position at, const event& x, std::string_view head) noexcept;

/// Everything of an event but its data and position, as JSON.
[[nodiscard]] std::string event_head(const event& x);

[[nodiscard]] result<batch_record> read_batch(std::string_view frame);
/// `run` is not in the record: the key holds its number.
[[nodiscard]] result<step_record> read_step(std::string_view frame, const run_id& run);
[[nodiscard]] result<put_marks> read_marks(std::string_view frame, const run_id& run);
[[nodiscard]] result<event> read_event(std::string_view frame, std::uint64_t seq);

/// What the index wants to know of a step, without its texts.
struct step_head {
  step_kind kind = step_kind::work;
  step_status status = step_status::done;
  std::uint32_t ordinal = 0;
};
[[nodiscard]] result<step_head> peek_step(std::string_view frame);

/// What events are found by: a hash of kind and subject; 0 for the engine's own kinds that nobody
/// waits for.
[[nodiscard]] std::uint64_t topic_of(std::string_view kind, std::string_view subject) noexcept;
[[nodiscard]] result<std::uint64_t> peek_topic(std::string_view frame);

// -- run rows ---------------------------------------------------------------------

/// What a query filters by, in front of the row's JSON.
struct run_head {
  std::uint64_t number = 0; ///< position of the run's first record
  run_status status = run_status::pending;
  timestamp ended_at{};
  std::uint64_t tenant = 0; ///< hashes, see `word_hash`
  std::uint64_t workflow = 0;
  std::uint64_t installation = 0;
};

[[nodiscard]] std::uint64_t word_hash(std::string_view word) noexcept;
[[nodiscard]] std::string write_run(const run_row& row, std::uint64_t number);
[[nodiscard]] result<run_head> peek_run(std::string_view frame);
[[nodiscard]] result<run_row> read_run(std::string_view frame);

// -- rows of the small tables -----------------------------------------------------

/// `where` takes part in the checksum's seed.
[[nodiscard]] std::string write_row(table where, std::string_view key, std::string_view value);
[[nodiscard]] result<std::string> read_row(table where, std::string_view key,
                                           std::string_view value);

} // namespace sluice::codec
