#include "storage/lmdb.hpp"

#include <lmdb.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/statvfs.h>

namespace sluice::lmdb {

namespace {

/// Below this an EIO is taken for a full disk: LMDB turns a short write into EIO, and no commit of
/// ours is larger.
constexpr std::uint64_t little_room_bytes = 16U << 20;

MDB_val val(std::string_view data) noexcept {
  return {data.size(), const_cast<char*>(data.data())};
}

std::string_view view(const MDB_val& v) noexcept {
  return {static_cast<const char*>(v.mv_data), v.mv_size};
}

bool is_full(int code, const char* folder) {
  if (code == MDB_MAP_FULL || code == ENOSPC || code == EDQUOT) return true;
  return code == EIO && disk_free(folder) < little_room_bytes;
}

error to_error(int code, MDB_env* env) {
  if (code == 0) return {};
  const char* folder = "";
  mdb_env_get_path(env, &folder);
  if (is_full(code, folder)) {
    return make_error(errc::disk_full,
                      std::string{"no room for the journal: "} + mdb_strerror(code));
  }
  return make_error(errc::storage_failed, std::string{"the journal failed: "} + mdb_strerror(code));
}

/// `mdb_reader_list` speaks text: a heading, then pid, thread and transaction of each reader.
int take_reader(const char* line, void* context) {
  const char* at = line;
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    char* end = nullptr;
    last = std::strtoull(at, &end, i == 1 ? 16 : 10);
    if (end == at) return 0;
    at = end;
  }
  auto& oldest = *static_cast<std::uint64_t*>(context);
  if (oldest == 0 || last < oldest) oldest = last;
  return 0;
}

} // namespace

std::uint64_t disk_free(const std::string& folder) {
  struct statvfs s{};
  if (statvfs(folder.c_str(), &s) != 0) return 0;
  return std::uint64_t{s.f_bavail} * s.f_frsize;
}

// -- env --------------------------------------------------------------------------

result<env> env::open(const env_options& o) {
  MDB_env* handle = nullptr;
  if (const int code = mdb_env_create(&handle)) {
    return make_error(errc::storage_failed, mdb_strerror(code));
  }
  env e{handle};
  unsigned flags = MDB_NOTLS;
  if (o.mode != access::write) flags |= MDB_RDONLY;
  if (o.mode == access::unshared) flags |= MDB_NOLOCK;
  int code = mdb_env_set_maxdbs(handle, o.databases);
  if (code == 0 && o.map_bytes != 0) code = mdb_env_set_mapsize(handle, o.map_bytes);
  if (code == 0) code = mdb_env_open(handle, o.folder.c_str(), flags, 0600);
  if (code == 0) return e;
  const auto detail = o.folder + ": " + mdb_strerror(code);
  switch (code) {
  case MDB_INVALID:
  case MDB_CORRUPTED:
    return make_error(errc::corrupt, detail);
  case MDB_VERSION_MISMATCH:
    return make_error(errc::newer_format, detail);
  case ENOENT:
    return make_error(errc::not_found, detail);
  case ENOSPC:
  case EDQUOT:
    return make_error(errc::disk_full, detail);
  default:
    return make_error(errc::storage_failed, detail);
  }
}

env::~env() {
  if (handle_ != nullptr) mdb_env_close(handle_);
}

env_info env::info() const {
  MDB_stat s{};
  MDB_envinfo i{};
  mdb_env_stat(handle_, &s);
  mdb_env_info(handle_, &i);
  env_info out{s.ms_psize, i.me_mapsize, (i.me_last_pgno + 1) * s.ms_psize, i.me_last_txnid, 0};
  mdb_reader_list(handle_, take_reader, &out.oldest_reader);
  return out;
}

std::uint64_t env::map_left() const {
  MDB_stat s{};
  MDB_envinfo i{};
  mdb_env_stat(handle_, &s);
  mdb_env_info(handle_, &i);
  const auto extent = (i.me_last_pgno + 1) * s.ms_psize;
  return i.me_mapsize > extent ? i.me_mapsize - extent : 0;
}

int env::clear_dead_readers() {
  int dead = 0;
  mdb_reader_check(handle_, &dead);
  return dead;
}

// -- txn --------------------------------------------------------------------------

txn::txn(const env& e, mode m) : env_{e.handle()} {
  note(mdb_txn_begin(env_, nullptr, m == mode::read ? MDB_RDONLY : 0U, &handle_));
}

txn::~txn() {
  if (handle_ != nullptr) mdb_txn_abort(handle_);
}

bool txn::note(int code) noexcept {
  if (code_ == 0) code_ = code;
  return code_ == 0;
}

std::optional<dbi> txn::open(const char* name, db_kind kind) {
  if (!ok()) return std::nullopt;
  unsigned flags = kind == db_kind::numbers ? MDB_DUPSORT | MDB_DUPFIXED : 0U;
  unsigned env_flags = 0;
  mdb_env_get_flags(env_, &env_flags);
  if ((env_flags & MDB_RDONLY) == 0) flags |= MDB_CREATE;
  dbi db = 0;
  const int code = mdb_dbi_open(handle_, name, flags, &db);
  if (code == MDB_NOTFOUND || !note(code)) return std::nullopt;
  return db;
}

std::optional<std::string_view> txn::get(dbi db, std::string_view key) {
  if (!ok()) return std::nullopt;
  auto k = val(key);
  MDB_val v{};
  const int code = mdb_get(handle_, db, &k, &v);
  if (code == MDB_NOTFOUND || !note(code)) return std::nullopt;
  return view(v);
}

void txn::put(dbi db, std::string_view key, std::string_view value) {
  if (!ok()) return;
  auto k = val(key);
  auto v = val(value);
  note(mdb_put(handle_, db, &k, &v, 0));
}

void txn::del(dbi db, std::string_view key) {
  if (!ok()) return;
  auto k = val(key);
  if (const int code = mdb_del(handle_, db, &k, nullptr); code != MDB_NOTFOUND) note(code);
}

void txn::del(dbi db, std::string_view key, std::string_view value) {
  if (!ok()) return;
  auto k = val(key);
  auto v = val(value);
  if (const int code = mdb_del(handle_, db, &k, &v); code != MDB_NOTFOUND) note(code);
}

db_stat txn::stat(dbi db) {
  MDB_stat s{};
  if (!ok() || !note(mdb_stat(handle_, db, &s))) return {};
  return {s.ms_entries, s.ms_branch_pages + s.ms_leaf_pages + s.ms_overflow_pages};
}

std::uint64_t txn::free_bytes() {
  // Database 0 is LMDB's list of free pages: each value begins with a count.
  std::uint64_t pages = 0;
  cursor c{*this, 0};
  for (auto e = c.first(); e; e = c.next()) {
    std::size_t count = 0;
    if (e->value.size() >= sizeof count) std::memcpy(&count, e->value.data(), sizeof count);
    pages += count;
  }
  MDB_stat s{};
  mdb_env_stat(env_, &s);
  return pages * s.ms_psize;
}

error txn::commit() {
  if (!ok()) return failure();
  note(mdb_txn_commit(std::exchange(handle_, nullptr)));
  return failure();
}

error txn::failure() const {
  return to_error(code_, env_);
}

// -- cursor -----------------------------------------------------------------------

cursor::cursor(txn& t, dbi db) : txn_{t} {
  if (t.ok()) t.note(mdb_cursor_open(t.handle_, db, &handle_));
}

cursor::~cursor() {
  // After a commit LMDB has freed the cursors of a writing transaction itself.
  if (handle_ != nullptr && txn_.handle_ != nullptr) mdb_cursor_close(handle_);
}

std::optional<entry> cursor::move(int operation, std::string_view key) {
  if (!txn_.ok()) return std::nullopt;
  auto k = val(key);
  MDB_val v{};
  const int code = mdb_cursor_get(handle_, &k, &v, static_cast<MDB_cursor_op>(operation));
  if (code == MDB_NOTFOUND || !txn_.note(code)) return std::nullopt;
  return entry{view(k), view(v)};
}

std::optional<entry> cursor::first() {
  return move(MDB_FIRST);
}

std::optional<entry> cursor::last() {
  return move(MDB_LAST);
}

std::optional<entry> cursor::next() {
  return move(MDB_NEXT);
}

std::optional<entry> cursor::previous() {
  return move(MDB_PREV);
}

std::optional<entry> cursor::find(std::string_view key) {
  return move(MDB_SET_KEY, key);
}

std::optional<entry> cursor::from(std::string_view key) {
  return move(MDB_SET_RANGE, key);
}

std::optional<entry> cursor::until(std::string_view key) {
  auto at = from(key);
  if (at && at->key == key) return at;
  return at ? previous() : last();
}

char* cursor::append(std::string_view key, std::size_t value_bytes) {
  if (!txn_.ok()) return nullptr;
  auto k = val(key);
  MDB_val v{value_bytes, nullptr};
  if (!txn_.note(mdb_cursor_put(handle_, &k, &v, MDB_APPEND | MDB_RESERVE))) return nullptr;
  return static_cast<char*>(v.mv_data);
}

void cursor::del() {
  if (txn_.ok()) txn_.note(mdb_cursor_del(handle_, 0));
}

} // namespace sluice::lmdb
