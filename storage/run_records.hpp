#pragma once

#include "storage/compact_vector.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

/// What a log record is to its run. The numbers are on disk.
enum class record_role : std::uint8_t {
  event = 0,
  marks = 1,
  version = 2,
  superseded = 3, ///< a step record that a newer one of the same ordinal replaced
  unreadable = 4, ///< fails its checksum
  step = 5,       ///< the newest of its ordinal
};

/// Where the newest record of an ordinal lies: 12 bytes.
struct step_place {
  std::uint32_t ordinal = 0;
  std::uint32_t seq_high = 0;
  std::uint32_t seq_low = 0;

  [[nodiscard]] std::uint64_t seq() const noexcept {
    return (std::uint64_t{seq_high} << 32) | seq_low;
  }
  static step_place at(std::uint32_t ordinal, std::uint64_t seq) noexcept {
    return {ordinal, static_cast<std::uint32_t>(seq >> 32), static_cast<std::uint32_t>(seq)};
  }
  friend bool operator==(const step_place&, const step_place&) = default;
};

/// A record that is not the newest of an ordinal: 8 bytes.
struct other_place {
  std::uint64_t packed = 0;

  [[nodiscard]] std::uint64_t seq() const noexcept { return packed >> 3; }
  [[nodiscard]] record_role role() const noexcept { return static_cast<record_role>(packed & 7); }
  static other_place at(record_role role, std::uint64_t seq) noexcept {
    return {(seq << 3) | static_cast<std::uint64_t>(role)};
  }
  friend auto operator<=>(const other_place&, const other_place&) = default;
};

/// Where the records of one run lie in the log, but for its first, which is at `number`.
///
/// Steps mostly come in the order of their ordinals and then cost an append; those that do not are
/// gathered behind the sorted part and merged when they are many or when somebody reads.
class run_records {
public:
  run_records() = default;
  explicit run_records(std::uint64_t first_seq) noexcept : number{first_seq} {}

  void add(record_role role, std::uint64_t seq, std::uint32_t ordinal);
  /// Says that `add` of a step comes soon.
  void prefetch() const noexcept {
    if (!steps_.empty()) __builtin_prefetch(steps_.end() - 1);
  }

  /// By ordinal, one per ordinal: the newest.
  const compact_vector<step_place>& steps();
  /// By position; the first record is not among them.
  const compact_vector<other_place>& others();
  /// Up to `limit` steps with an ordinal of `from` or more.
  std::vector<step_place> steps_from(std::uint64_t from, std::size_t limit);

  std::uint64_t number = 0; ///< position of the run's first record
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t last_result = 0; ///< position of the newest `done`, `failed` or marks record
  std::uint64_t corrupt_seq = 0; ///< a record that fails its checksum; 0: none is known

private:
  void merge();

  compact_vector<step_place> steps_;
  compact_vector<other_place> others_;
  std::uint32_t sorted_ = 0; ///< so many of `steps_` are sorted and unique
  bool others_sorted_ = true;
};

} // namespace sluice
