#include "storage/lmdb_queries.hpp"

#include "base/log.hpp"
#include "storage/codec.hpp"
#include "storage/keys.hpp"
#include "storage/log_walk.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace sluice {

namespace {

/// A read transaction ends after so many entries, so that it never holds pages back for long (F26).
constexpr std::size_t entries_per_read = 50'000;
/// A query looks at so many rows before it answers with what it has.
constexpr std::size_t rows_per_query = 10'000;

result<run_row> open_row(const run_id& id, std::optional<std::string_view> value) {
  if (!value) return make_error(errc::corrupt, "the row of run " + to_string(id) + " is missing");
  auto opened = codec::open(*value, codec::seed_of(keys::run(id)));
  if (!opened || opened->kind != codec::value_kind::run) {
    return make_error(errc::corrupt, "the row of run " + to_string(id) + " fails its checksum");
  }
  return codec::read_run(opened->frame);
}

std::optional<event> open_event(const log_walk::record& record) {
  auto opened = codec::open(record.value, codec::seed_of(record.at));
  if (!opened || opened->kind != codec::value_kind::event) return std::nullopt;
  auto e = codec::read_event(opened->frame, record.at.seq);
  if (!e) return std::nullopt;
  return std::move(*e);
}

/// Without its checksum, as a cheap first look.
bool looks_like_event(std::string_view value) noexcept {
  return value.size() > 1 && value[1] == static_cast<char>(codec::value_kind::event);
}

void add_index_facts(lmdb_journal& j, live_run& run) {
  std::lock_guard guard{j.lock};
  const auto* records = j.runs.find(run.row.id);
  if (records == nullptr) return;
  run.last_result_seq = records->last_result;
  run.records = records->records;
  run.bytes = records->bytes;
  run.corrupt = run.corrupt || records->corrupt_seq != 0;
}

bool may_match(const codec::run_head& h, std::string_view tenant, const run_filter& f) {
  auto same = [](std::string_view wanted, std::uint64_t hash) {
    return wanted.empty() || codec::word_hash(wanted) == hash;
  };
  if (f.status && *f.status != h.status) return false;
  if (f.ended_before != never && (h.ended_at == never || h.ended_at >= f.ended_before)) {
    return false;
  }
  return same(tenant, h.tenant) && same(f.workflow, h.workflow)
         && same(f.installation, h.installation);
}

bool matches(const run_row& row, std::string_view tenant, const run_filter& f) {
  return (tenant.empty() || row.tenant == tenant)
         && (f.workflow.empty() || row.workflow == f.workflow)
         && (f.installation.empty() || row.installation == f.installation);
}

} // namespace

result<live_run_page> read_live_runs(lmdb_journal& j, std::optional<run_id> after,
                                     std::size_t limit) {
  live_run_page page;
  limit = std::max<std::size_t>(limit, 1);
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  lmdb::cursor c{t, j.db.live};
  auto e = after ? c.from(keys::run(*after)) : c.first();
  if (e && after && e->key == std::string_view{keys::run(*after)}) e = c.next();
  for (; e; e = c.next()) {
    auto id = keys::run_from(e->key);
    if (!id) continue;
    if (page.runs.size() == limit) {
      page.next = page.runs.back().row.id;
      break;
    }
    live_run run;
    run.first_seq = keys::number_from(e->value).value_or(0);
    if (auto row = open_row(*id, t.get(j.db.runs, e->key))) {
      run.row = std::move(*row);
    } else {
      run.row.id = *id;
      run.corrupt = true;
    }
    if (auto wake = t.get(j.db.wakes, keys::number(run.first_seq)); wake && wake->size() >= 8) {
      run.wake_at = keys::instant_from(wake->substr(0, 8)).value_or(never);
    }
    add_index_facts(j, run);
    page.runs.push_back(std::move(run));
  }
  if (!t.ok()) return t.failure();
  return page;
}

result<std::vector<due_run>> read_due(lmdb_journal& j, timestamp until, std::size_t limit) {
  std::vector<due_run> due;
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  lmdb::cursor c{t, j.db.due};
  for (auto e = c.first(); e && due.size() < limit; e = c.next()) {
    auto at = keys::instant_from(e->key);
    if (at && *at > until) break;
    auto wake = t.get(j.db.wakes, e->value);
    auto run = wake && wake->size() == 24 ? keys::run_from(wake->substr(8)) : std::nullopt;
    if (at && run) due.push_back({*run, *at});
  }
  if (!t.ok()) return t.failure();
  return due;
}

result<std::vector<event>> read_log_events(lmdb_journal& j, std::uint64_t after_seq,
                                           std::size_t limit) {
  std::vector<event> events;
  std::optional<std::uint64_t> from = after_seq + 1;
  while (from && events.size() < limit) {
    lmdb::txn t{j.env, lmdb::txn::mode::read};
    lmdb::cursor c{t, j.db.log};
    std::size_t seen = 0;
    auto e = c.from(keys::position({*from, 0}));
    from.reset();
    for (; e && events.size() < limit; e = c.next()) {
      auto at = keys::position_from(e->key);
      if (at && looks_like_event(e->value)) {
        if (auto found = open_event({*at, e->value})) events.push_back(std::move(*found));
      }
      if (at && ++seen == entries_per_read) {
        from = at->seq + 1;
        break;
      }
    }
    if (!t.ok()) return t.failure();
  }
  return events;
}

result<std::vector<event>> read_topic(lmdb_journal& j, std::string_view kind,
                                      std::string_view subject, std::uint64_t after_seq,
                                      std::size_t limit) {
  std::vector<std::uint64_t> seqs;
  {
    std::lock_guard guard{j.lock};
    seqs = j.events.find(codec::topic_of(kind, subject), after_seq);
  }
  std::vector<event> events;
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  log_walk walk{t, j.db.log};
  for (auto seq : seqs) {
    if (events.size() == limit) break;
    auto record = walk.at(seq);
    auto e = record ? open_event(*record) : std::nullopt;
    if (e && e->kind == kind && e->subject == subject) events.push_back(std::move(*e));
  }
  if (!t.ok()) return t.failure();
  return events;
}

result<std::optional<event>> read_keyed_event(lmdb_journal& j, std::string_view key) {
  using found_event = std::optional<event>;
  if (key.empty()) return found_event{};
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  auto holder = t.get(j.db.event_keys, keys::idempotency(key));
  auto at = holder ? keys::position_from(*holder) : std::nullopt;
  auto value = at ? t.get(j.db.log, keys::position(*at)) : std::nullopt;
  if (!t.ok()) return t.failure();
  if (!value) return found_event{};
  auto e = open_event({*at, *value});
  if (!e) {
    return make_error(errc::corrupt, "record " + std::to_string(at->seq) + " fails its checksum");
  }
  return e;
}

result<std::optional<run_row>> read_row_of(lmdb_journal& j, const run_id& run) {
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  auto value = t.get(j.db.runs, keys::run(run));
  if (!t.ok()) return t.failure();
  if (!value) return std::optional<run_row>{};
  auto row = open_row(run, value);
  if (!row) return row.error();
  return std::optional<run_row>{std::move(*row)};
}

result<run_page> query_runs(lmdb_journal& j, std::string_view tenant, const run_filter& filter,
                            std::optional<run_id> before, std::size_t limit) {
  run_page page;
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  lmdb::cursor c{t, j.db.runs};
  auto e = before ? c.until(keys::run(*before)) : c.last();
  if (e && before && e->key == std::string_view{keys::run(*before)}) e = c.previous();
  std::size_t seen = 0;
  for (std::optional<run_id> last; e; e = c.previous()) {
    if (page.runs.size() >= limit || seen == rows_per_query) {
      page.next = last;
      break;
    }
    ++seen;
    last = keys::run_from(e->key);
    if (!last) continue;
    auto opened = codec::open(e->value, codec::seed_of(e->key));
    if (!opened) continue;
    auto head = codec::peek_run(opened->frame);
    if (!head || !may_match(*head, tenant, filter)) continue;
    auto row = codec::read_run(opened->frame);
    if (row && matches(*row, tenant, filter)) page.runs.push_back(std::move(*row));
  }
  if (!t.ok()) return t.failure();
  return page;
}

result<std::vector<table_row>> read_rows(lmdb_journal& j, table where, std::string_view prefix,
                                         std::string_view after, std::size_t limit) {
  std::vector<table_row> rows;
  if (static_cast<std::size_t>(where) >= table_count) {
    return make_error(errc::bad_input, "no such table");
  }
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  lmdb::cursor c{t, j.db.row(where)};
  const auto from = std::max(prefix, after);
  auto e = from.empty() ? c.first() : c.from(from);
  if (e && !after.empty() && e->key == after) e = c.next();
  for (; e && rows.size() < limit && e->key.starts_with(prefix); e = c.next()) {
    auto value = codec::read_row(where, e->key, e->value);
    if (value)
      rows.push_back({std::string{e->key}, std::move(*value)});
    else
      log::error("table row fails its checksum", {{"table", to_string(where)}, {"key", e->key}});
  }
  if (!t.ok()) return t.failure();
  return rows;
}

store_stats stats_of(lmdb_journal& j, const std::string& folder) {
  store_stats s;
  const auto info = j.env.info();
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  auto count = [&](lmdb::dbi db) {
    const auto found = t.stat(db);
    s.used_bytes += found.pages * info.page_bytes;
    return found.entries;
  };
  s.log_records = count(j.db.log);
  s.runs = count(j.db.runs);
  s.live_runs = count(j.db.live);
  for (auto db : {j.db.meta, j.db.ended, j.db.wakes, j.db.due, j.db.event_keys})
    count(db);
  for (auto db : j.db.rows)
    count(db);
  s.trimmed = meta_number(t, j.db, meta::trimmed);
  std::error_code ignored;
  s.file_bytes = std::filesystem::file_size(folder + "/data.mdb", ignored);
  s.free_bytes = lmdb::disk_free(folder);
  if (info.oldest_reader != 0) s.reader_lag = info.last_txn - info.oldest_reader;
  s.epoch = j.epoch;
  s.store_id = j.store_id;
  std::lock_guard guard{j.lock};
  s.head = j.head;
  s.corrupt_records = j.corrupt;
  return s;
}

} // namespace sluice
