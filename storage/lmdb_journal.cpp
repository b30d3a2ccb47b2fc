#include "storage/lmdb_journal.hpp"

#include "base/log.hpp"
#include "storage/codec.hpp"
#include "storage/data_folder.hpp"
#include "storage/keys.hpp"

#include <filesystem>
#include <system_error>
#include <unordered_map>

namespace sluice {

namespace {

/// Puts one record where the indexes will look for it.
class index_builder {
public:
  explicit index_builder(lmdb_journal& j) : j_{j} {}

  void add_run(const run_id& id, std::uint64_t number) {
    by_number_.emplace(number, &j_.runs.add(id, run_records{number}));
  }

  void add_record(keys::log_position at, std::string_view value) {
    auto found = by_number_.find(at.run);
    auto* run = at.run == 0 || found == by_number_.end() ? nullptr : found->second;
    if (run != nullptr) {
      ++run->records;
      run->bytes += value.size();
    }
    auto opened = codec::open(value, codec::seed_of(at));
    if (!opened || !index(at, run, *opened)) unreadable(at, run);
  }

private:
  bool index(keys::log_position at, run_records* run, const codec::opened& record) {
    using codec::value_kind;
    switch (record.kind) {
    case value_kind::batch:
      return true;
    case value_kind::step:
      return index_step(at, run, record.frame);
    case value_kind::event: {
      auto topic = codec::peek_topic(record.frame);
      if (!topic) return false;
      j_.events.add(*topic, at.seq);
      if (run != nullptr && at.seq != at.run) run->add(record_role::event, at.seq, 0);
      return true;
    }
    case value_kind::marks:
      if (run == nullptr) return true;
      run->add(record_role::marks, at.seq, 0);
      run->last_result = at.seq;
      return true;
    case value_kind::run:
    case value_kind::row:
    case value_kind::seqs:
      return false;
    }
    return false;
  }

  static bool index_step(keys::log_position at, run_records* run, std::string_view frame) {
    auto step = codec::peek_step(frame);
    if (!step) return false;
    if (run == nullptr) return true;
    const bool version = step->ordinal == no_ordinal;
    run->add(version ? record_role::version : record_role::step, at.seq, step->ordinal);
    if (step->status == step_status::done || step->status == step_status::failed) {
      run->last_result = at.seq;
    }
    return true;
  }

  void unreadable(keys::log_position at, run_records* run) {
    ++j_.corrupt;
    log::error("journal record fails its checksum", {{"seq", at.seq}, {"run_number", at.run}});
    if (run == nullptr) return;
    if (at.seq != at.run) run->add(record_role::unreadable, at.seq, 0);
    run->corrupt_seq = at.seq;
  }

  lmdb_journal& j_;
  std::unordered_map<std::uint64_t, run_records*> by_number_;
};

} // namespace

error rebuild_indexes(lmdb_journal& j) {
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  index_builder builder{j};
  lmdb::cursor live{t, j.db.live};
  for (auto e = live.first(); e; e = live.next()) {
    auto id = keys::run_from(e->key);
    auto number = keys::number_from(e->value);
    if (id && number) builder.add_run(*id, *number);
  }
  j.head = head_of(t, j.db);
  lmdb::cursor log{t, j.db.log};
  for (auto e = log.from(keys::position({j.runs.oldest(), 0})); e; e = log.next()) {
    if (auto at = keys::position_from(e->key)) builder.add_record(*at, e->value);
  }
  return t.failure();
}

result<std::unique_ptr<lmdb_journal>> open_beside(const std::string& folder) {
  auto found = look_into(folder);
  if (!found) return found.error();
  if (!found->data) return make_error(errc::not_found, folder + ": no journal here");
  if (auto e = check_format(folder, found->lock)) return e;
  // Without the lock file of LMDB nobody writes, and opening it would create one.
  std::error_code ignored;
  const bool shared = std::filesystem::exists(folder + "/lock.mdb", ignored);
  const auto mode = shared ? lmdb::access::read : lmdb::access::unshared;
  auto env = lmdb::env::open({folder, 0, lmdb_table_count, mode});
  if (!env) return env.error();
  auto j = std::make_unique<lmdb_journal>(std::move(*env));
  lmdb::txn t{j->env, lmdb::txn::mode::read};
  auto tables = lmdb_tables::open(t);
  if (!tables) return tables.error();
  j->db = *tables;
  j->epoch = meta_number(t, j->db, meta::epoch);
  j->store_id = t.get(j->db.meta, meta::store).value_or("");
  j->head = head_of(t, j->db);
  // Only a transaction that ends well leaves its handles open.
  if (auto e = t.commit()) return e;
  return j;
}

std::uint64_t head_of(lmdb::txn& t, const lmdb_tables& db) {
  auto last = lmdb::cursor{t, db.log}.last();
  auto at = last ? keys::position_from(last->key) : std::nullopt;
  return at ? at->seq : 0;
}

} // namespace sluice
