#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct MDB_env;
struct MDB_txn;
struct MDB_cursor;

/// LMDB with owners: environment, transaction, cursor. Its codes become our errors here.
///
/// A transaction remembers the first thing that went wrong. After that its reads find nothing and
/// its writes do nothing, so that callers ask once, at the end.
namespace sluice::lmdb {

using dbi = unsigned int;

enum class access : std::uint8_t {
  write,
  read,     ///< beside a writer
  unshared, ///< read-only, known to be alone: touches no lock file
};

struct env_options {
  std::string folder;
  std::size_t map_bytes = 0;
  unsigned databases = 16;
  access mode = access::write;
};

struct env_info {
  std::uint64_t page_bytes = 0;
  std::uint64_t map_bytes = 0;
  std::uint64_t extent_bytes = 0; ///< of the file that LMDB ever used
  std::uint64_t last_txn = 0;
  std::uint64_t oldest_reader = 0; ///< its transaction; 0: nobody reads
};

/// One file, mapped. One per process and folder (fcntl locks break otherwise).
class env {
public:
  static result<env> open(const env_options& o);

  env(env&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  env& operator=(env&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~env();

  [[nodiscard]] MDB_env* handle() const noexcept { return handle_; }
  [[nodiscard]] env_info info() const;
  /// How much the file can still grow before the map is full.
  [[nodiscard]] std::uint64_t map_left() const;
  /// Frees the slots of readers that died; gives their number.
  int clear_dead_readers();

private:
  explicit env(MDB_env* handle) noexcept : handle_{handle} {}

  MDB_env* handle_ = nullptr;
};

/// Good until the transaction writes or ends.
struct entry {
  std::string_view key;
  std::string_view value;
};

struct db_stat {
  std::uint64_t entries = 0;
  std::uint64_t pages = 0;
};

enum class db_kind : std::uint8_t {
  plain,
  numbers, ///< many values of eight bytes under one key (DUPSORT | DUPFIXED)
};

class txn {
public:
  enum class mode : std::uint8_t { read, write };

  txn(const env& e, mode m);
  txn(const txn&) = delete;
  txn& operator=(const txn&) = delete;
  /// What was not committed is undone.
  ~txn();

  /// Opens a named database, creating it when this transaction writes. Nothing when it is absent.
  std::optional<dbi> open(const char* name, db_kind kind);

  std::optional<std::string_view> get(dbi db, std::string_view key);
  void put(dbi db, std::string_view key, std::string_view value);
  /// Absent keys are left alone.
  void del(dbi db, std::string_view key);
  /// Removes one value of a key; for `db_kind::numbers`.
  void del(dbi db, std::string_view key, std::string_view value);
  db_stat stat(dbi db);
  /// Bytes of pages that lie free inside the file.
  std::uint64_t free_bytes();

  /// Makes everything durable. `errc::disk_full`: nothing was written and later commits may work;
  /// anything else: the store can no longer be trusted (F22).
  [[nodiscard]] error commit();
  [[nodiscard]] bool ok() const noexcept { return code_ == 0; }
  /// What went wrong first; empty when nothing did.
  [[nodiscard]] error failure() const;

private:
  friend class cursor;
  /// Keeps the first bad code; true when there is none and never was.
  bool note(int code) noexcept;

  MDB_env* env_ = nullptr;
  MDB_txn* handle_ = nullptr;
  int code_ = 0;
};

/// Must not outlive its transaction.
class cursor {
public:
  cursor(txn& t, dbi db);
  cursor(const cursor&) = delete;
  cursor& operator=(const cursor&) = delete;
  ~cursor();

  std::optional<entry> first();
  std::optional<entry> last();
  std::optional<entry> next();
  std::optional<entry> previous();
  /// The entry with exactly this key.
  std::optional<entry> find(std::string_view key);
  /// The first entry whose key is `key` or greater.
  std::optional<entry> from(std::string_view key);
  /// The last entry whose key is `key` or less.
  std::optional<entry> until(std::string_view key);

  /// Appends a key that is greater than all others; gives the memory for its value, to be filled
  /// before anything else happens in the transaction. Null when that failed.
  char* append(std::string_view key, std::size_t value_bytes);
  /// Removes the entry under the cursor.
  void del();

private:
  std::optional<entry> move(int operation, std::string_view key = {});

  txn& txn_;
  MDB_cursor* handle_ = nullptr;
};

/// Free bytes on the disk that holds `folder`, for us.
[[nodiscard]] std::uint64_t disk_free(const std::string& folder);

} // namespace sluice::lmdb
