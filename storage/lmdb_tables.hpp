#pragma once

#include "base/error.hpp"
#include "messages/journal.hpp"
#include "storage/lmdb.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// Raised when the layout changes; a build refuses a journal with a greater number.
inline constexpr std::uint64_t journal_format = 1;

/// The sub-databases of the embedded store, opened once. docs/journal-format.md says what they
/// hold.
struct lmdb_tables {
  lmdb::dbi meta = 0;
  lmdb::dbi log = 0;
  lmdb::dbi runs = 0;
  lmdb::dbi live = 0;
  lmdb::dbi ended = 0;
  lmdb::dbi wakes = 0;
  lmdb::dbi due = 0;
  lmdb::dbi event_keys = 0;
  std::array<lmdb::dbi, table_count> rows{};

  /// Opens them in `t`, which must then be committed. Creates them when `t` writes.
  static result<lmdb_tables> open(lmdb::txn& t);

  [[nodiscard]] lmdb::dbi row(table where) const noexcept {
    return rows[static_cast<std::size_t>(where)];
  }
};

inline constexpr unsigned lmdb_table_count = 16;

/// Names of what `meta` holds.
namespace meta {
inline constexpr const char* format = "format";
inline constexpr const char* store = "store";
inline constexpr const char* epoch = "epoch";
inline constexpr const char* trimmed = "trimmed"; ///< log positions below this may be missing
inline constexpr const char* removed = "removed"; ///< log records removed by trims, ever
} // namespace meta

[[nodiscard]] std::uint64_t meta_number(lmdb::txn& t, const lmdb_tables& db, const char* name);
void set_meta_number(lmdb::txn& t, const lmdb_tables& db, const char* name, std::uint64_t value);

/// Is the data file in `folder` a journal that this build can read? Changes nothing on disk.
/// `errc::foreign_folder`, `errc::newer_format`, `errc::corrupt` or what the disk says.
/// `ours`: a lock file of ours lies beside it, so that an empty file is a start that was cut short.
[[nodiscard]] error check_format(const std::string& folder, bool ours);

} // namespace sluice
