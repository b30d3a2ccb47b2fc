#include "storage/lmdb_store.hpp"

#include "base/uuid.hpp"
#include "storage/codec.hpp"
#include "storage/lmdb_batch.hpp"
#include "storage/lmdb_journal.hpp"
#include "storage/lmdb_memos.hpp"
#include "storage/lmdb_queries.hpp"
#include "storage/log_walk.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

/// The row of `table::node` that an ordered shutdown leaves (4.7).
constexpr std::string_view clean_key = "clean";

/// With this much above the reserve, the disk is asked only once in so many commits.
constexpr std::uint64_t ample_room_bytes = std::uint64_t{1} << 30;
constexpr int commits_per_look = 32;

error not_open() {
  return make_error(errc::unavailable, "the store is not open");
}

} // namespace

lmdb_store::lmdb_store(lmdb_options options) : options_{std::move(options)} {}
lmdb_store::~lmdb_store() = default;

// -- opening ----------------------------------------------------------------------

/// Refuses what is not ours before anything on disk has changed, then takes the lock.
error lmdb_store::claim() {
  const auto& folder = options_.path;
  auto found = look_into(folder);
  if (!found) return found.error();
  if (found->other && !found->data) {
    return make_error(errc::foreign_folder, folder + ": has other things in it, but no journal");
  }
  auto lock = [&]() -> error {
    auto taken = folder_lock::take(folder);
    if (!taken) return taken.error();
    lock_ = std::move(*taken);
    return {};
  };
  // A lock file that is there can be locked without a change; one that is not must wait.
  if (found->lock) {
    if (auto e = lock()) return e;
  }
  if (found->data) {
    if (auto e = check_format(folder, found->lock)) return e;
  }
  return found->lock ? error{} : lock();
}

result<shard_grant> lmdb_store::open() {
  if (journal_) return make_error(errc::internal, "the store is open already");
  auto opened = options_.read_only ? open_beside(options_.path) : take_over();
  if (!opened) return opened.error();
  auto& j = **opened;
  if (auto e = rebuild_indexes(j)) return e;
  journal_ = std::move(*opened);
  return shard_grant{0, j.epoch, j.head, clean_};
}

/// Opens the journal as its one writer: one commit creates what is missing and raises the epoch.
result<std::unique_ptr<lmdb_journal>> lmdb_store::take_over() {
  if (auto e = claim()) return e;
  auto env =
    lmdb::env::open({options_.path, options_.map_bytes, lmdb_table_count, lmdb::access::write});
  if (!env) return env.error();
  auto opened = std::make_unique<lmdb_journal>(std::move(*env));
  auto& j = *opened;
  j.env.clear_dead_readers();
  lmdb::txn t{j.env, lmdb::txn::mode::write};
  auto tables = lmdb_tables::open(t);
  if (!tables) return tables.error();
  j.db = *tables;
  if (meta_number(t, j.db, meta::format) == 0) {
    set_meta_number(t, j.db, meta::format, journal_format);
    t.put(j.db.meta, meta::store, to_string(uuid_source{}.next(never)));
  }
  j.epoch = meta_number(t, j.db, meta::epoch) + 1;
  set_meta_number(t, j.db, meta::epoch, j.epoch);
  clean_ = t.get(j.db.row(table::node), clean_key).has_value();
  t.del(j.db.row(table::node), clean_key);
  j.store_id = t.get(j.db.meta, meta::store).value_or("");
  if (auto e = t.commit()) return e;
  if (auto e = sync_folder(options_.path)) return e;
  return opened;
}

// -- writing ----------------------------------------------------------------------

bool lmdb_store::has_room() {
  if (commits_until_look_ > 0) {
    --commits_until_look_;
    return true;
  }
  const auto reserve = options_.reserve_bytes;
  const auto left = std::min(journal_->env.map_left(), lmdb::disk_free(options_.path));
  if (left >= reserve) {
    if (left - reserve >= ample_room_bytes) commits_until_look_ = commits_per_look - 1;
    return true;
  }
  lmdb::txn t{journal_->env, lmdb::txn::mode::read};
  return left + t.free_bytes() >= reserve;
}

void lmdb_store::submit(const std::vector<batch>& batches) {
  if (batches.empty()) return;
  auto refuse_all = [&](commit_status status, const std::string& why) {
    for (const auto& b : batches) {
      finished_.push_back({b.id, status, journal_ ? journal_->head : 0, why});
    }
  };
  if (!journal_) return refuse_all(commit_status::failed, "the store is not open");
  if (options_.read_only) return refuse_all(commit_status::failed, "the store is read-only");
  if (!broken_.empty()) return refuse_all(commit_status::failed, broken_);

  std::vector<commit_result> results;
  error failure;
  {
    lmdb::txn t{journal_->env, lmdb::txn::mode::write};
    batch_writer writer{*journal_, t, has_room()};
    for (const auto& b : batches) {
      if (t.ok()) results.push_back(writer.write(b));
    }
    failure = !t.ok() || writer.wrote() ? t.commit() : error{};
    if (!failure && writer.wrote()) writer.apply();
  }
  if (failure) {
    const bool full = code_of(failure) == errc::disk_full;
    if (!full) broken_ = detail_of(failure);
    results.resize(batches.size());
    for (std::size_t i = 0; i < batches.size(); ++i) {
      auto& r = results[i];
      if (r.id == batches[i].id && r.status != commit_status::committed) continue;
      r = {batches[i].id, full ? commit_status::full : commit_status::failed, journal_->head,
           detail_of(failure)};
    }
  }
  finished_.insert(finished_.end(), std::make_move_iterator(results.begin()),
                   std::make_move_iterator(results.end()));
}

std::vector<commit_result> lmdb_store::finished(duration) {
  return std::exchange(finished_, {});
}

probe_answer lmdb_store::probe(std::uint32_t, std::uint64_t epoch, batch_id id,
                               std::uint64_t expected_head) {
  if (!journal_ || epoch != journal_->epoch) return probe_answer::fenced;
  if (journal_->head < expected_head) return probe_answer::regressed;
  lmdb::txn t{journal_->env, lmdb::txn::mode::read};
  auto record = log_walk{t, journal_->db.log}.at(expected_head + 1);
  if (!record) return probe_answer::absent;
  auto opened = codec::open(record->value, codec::seed_of(record->at));
  if (!opened || opened->kind != codec::value_kind::batch) return probe_answer::absent;
  auto found = codec::read_batch(opened->frame);
  return found && found->id == id ? probe_answer::committed : probe_answer::absent;
}

bool lmdb_store::is_live(run_id run) {
  return journal_ && journal_->runs.find(run) != nullptr;
}

// -- reading ----------------------------------------------------------------------

result<live_run_page> lmdb_store::load_runs(std::uint32_t, std::optional<run_id> after,
                                            std::size_t limit) {
  if (!journal_) return not_open();
  return read_live_runs(*journal_, after, limit);
}

result<step_page> lmdb_store::load_steps(std::uint32_t, const std::vector<run_id>& runs,
                                         step_position after, std::size_t limit) {
  if (!journal_) return not_open();
  return read_memos(*journal_, runs, after, limit);
}

result<std::vector<put_marks>> lmdb_store::load_marks(std::uint32_t, run_id run) {
  if (!journal_) return not_open();
  return read_marks_of(*journal_, run);
}

result<std::vector<due_run>> lmdb_store::due(std::uint32_t, timestamp until, std::size_t limit) {
  if (!journal_) return not_open();
  return read_due(*journal_, until, limit);
}

result<std::vector<event>> lmdb_store::read_events(std::uint32_t, std::uint64_t after_seq,
                                                   std::size_t limit) {
  if (!journal_) return not_open();
  return read_log_events(*journal_, after_seq, limit);
}

result<std::vector<event>> lmdb_store::find_events(std::uint32_t, std::string_view kind,
                                                   std::string_view subject,
                                                   std::uint64_t after_seq, std::size_t limit) {
  if (!journal_) return not_open();
  return read_topic(*journal_, kind, subject, after_seq, limit);
}

result<std::optional<event>> lmdb_store::find_event(std::uint32_t, std::string_view key) {
  if (!journal_) return not_open();
  return read_keyed_event(*journal_, key);
}

result<std::vector<event>> lmdb_store::run_ends(std::uint32_t, run_id run) {
  if (!journal_) return not_open();
  return read_run_ends(*journal_, run);
}

result<std::optional<run_row>> lmdb_store::find_run(std::uint32_t, run_id run) {
  if (!journal_) return not_open();
  return read_row_of(*journal_, run);
}

result<run_page> lmdb_store::query(std::string_view tenant, const run_filter& filter,
                                   std::optional<run_id> before, std::size_t limit) {
  if (!journal_) return not_open();
  return query_runs(*journal_, tenant, filter, before, limit);
}

result<std::vector<table_row>> lmdb_store::load(table where, std::uint32_t, std::string_view prefix,
                                                std::string_view after, std::size_t limit) {
  if (!journal_) return not_open();
  return read_rows(*journal_, where, prefix, after, limit);
}

store_stats lmdb_store::stats() {
  if (!journal_) return {};
  return stats_of(*journal_, options_.path);
}

} // namespace sluice
