#include "storage/lmdb_tables.hpp"

#include "storage/keys.hpp"

namespace sluice {

namespace {

constexpr std::array<const char*, table_count> row_table_names{
  "sent", "gated", "cert", "limit", "circuit", "dlq", "schedule", "node"};

} // namespace

result<lmdb_tables> lmdb_tables::open(lmdb::txn& t) {
  lmdb_tables db;
  bool complete = true;
  auto take = [&](const char* name, lmdb::dbi& out, lmdb::db_kind kind = lmdb::db_kind::plain) {
    auto opened = t.open(name, kind);
    complete = complete && opened.has_value();
    out = opened.value_or(0);
  };
  take("meta", db.meta);
  take("log", db.log);
  take("runs", db.runs);
  take("live", db.live);
  take("ended", db.ended);
  take("wakes", db.wakes);
  take("due", db.due, lmdb::db_kind::numbers);
  take("event_keys", db.event_keys);
  for (std::size_t i = 0; i < table_count; ++i)
    take(row_table_names[i], db.rows[i]);
  if (!t.ok()) return t.failure();
  if (!complete) return make_error(errc::corrupt, "the journal lacks a table");
  return db;
}

std::uint64_t meta_number(lmdb::txn& t, const lmdb_tables& db, const char* name) {
  auto value = t.get(db.meta, name);
  return value ? keys::number_from(*value).value_or(0) : 0;
}

void set_meta_number(lmdb::txn& t, const lmdb_tables& db, const char* name, std::uint64_t value) {
  t.put(db.meta, name, keys::number(value));
}

error check_format(const std::string& folder, bool ours) {
  auto env = lmdb::env::open({folder, 0, lmdb_table_count, lmdb::access::unshared});
  if (!env) {
    if (code_of(env.error()) == errc::corrupt && !ours) {
      return make_error(errc::foreign_folder, folder + ": data.mdb is not a journal of sluice");
    }
    return env.error();
  }
  lmdb::txn t{*env, lmdb::txn::mode::read};
  auto db = t.open("meta", lmdb::db_kind::plain);
  auto format = db ? t.get(*db, meta::format) : std::nullopt;
  if (!t.ok()) return t.failure();
  if (!format) {
    if (ours && !db) return {};
    return make_error(errc::foreign_folder, folder + ": data.mdb is not a journal of sluice");
  }
  const auto number = keys::number_from(*format);
  if (!number) return make_error(errc::corrupt, folder + ": the journal's format cannot be read");
  if (*number > journal_format) {
    return make_error(errc::newer_format, folder + ": the journal has format "
                                            + std::to_string(*number) + ", this build knows up to "
                                            + std::to_string(journal_format));
  }
  return {};
}

} // namespace sluice
