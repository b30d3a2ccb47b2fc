#include "base/hash.hpp"
#include "storage/codec.hpp"
#include "storage/inspect.hpp"
#include "storage/keys.hpp"
#include "storage/lmdb_journal.hpp"
#include "storage/lmdb_queries.hpp"
#include "storage/seq_chunks.hpp"

#include <algorithm>
#include <unordered_map>

namespace sluice {

namespace {

/// What the tables say of one run, and what was found of it in the log. Lists of positions are
/// compared by count and sum of hashes.
struct known_run {
  run_id id;
  bool terminal = false;
  bool corrupt = false;
  bool begun = false; ///< its first record was seen
  std::uint64_t in_log = 0;
  std::uint64_t log_sum = 0;
  std::uint64_t in_lists = 0;
  std::uint64_t list_sum = 0;
};

class verifier {
public:
  explicit verifier(lmdb_journal& j) : j_{j}, t_{j.env, lmdb::txn::mode::read} {}

  result<verify_report> run() {
    check_rows();
    check_live();
    check_lists();
    check_log();
    check_runs();
    check_wakes();
    check_keys();
    check_tables();
    if (!t_.ok()) return t_.failure();
    for (const auto& [number, r] : runs_) {
      if (r.corrupt) report_.corrupt_runs.push_back(r.id);
    }
    std::sort(report_.corrupt_runs.begin(), report_.corrupt_runs.end());
    return std::move(report_);
  }

private:
  void problem(std::string what) {
    ++report_.problems;
    if (report_.details.size() < verify_details_max) report_.details.push_back(std::move(what));
  }

  template <class Visit>
  void each(lmdb::dbi db, Visit visit) {
    lmdb::cursor c{t_, db};
    for (auto e = c.first(); e; e = c.next())
      visit(*e);
  }

  void check_rows() {
    each(j_.db.runs, [&](const lmdb::entry& e) {
      ++report_.runs;
      auto id = keys::run_from(e.key);
      if (!id) return problem("runs: a key that is no run id");
      auto opened = codec::open(e.value, codec::seed_of(e.key));
      auto head = opened ? codec::peek_run(opened->frame) : opened.error();
      auto row = head ? codec::read_run(opened->frame) : head.error();
      if (!row) {
        bad_rows_.push_back(*id);
        return problem("run " + to_string(*id) + ": its row fails its checksum");
      }
      if (row->id != *id) problem("run " + to_string(*id) + ": its row names another run");
      known_run known;
      known.id = *id;
      known.terminal = is_terminal(head->status);
      if (!runs_.emplace(head->number, known).second) {
        problem("run " + to_string(*id) + ": another run has its number");
      }
    });
  }

  void check_live() {
    each(j_.db.live, [&](const lmdb::entry& e) {
      ++report_.live_runs;
      auto id = keys::run_from(e.key);
      auto number = keys::number_from(e.value);
      if (!id || !number) return problem("live: an entry cannot be read");
      if (std::find(bad_rows_.begin(), bad_rows_.end(), *id) != bad_rows_.end()) {
        known_run known;
        known.id = *id;
        known.corrupt = true;
        runs_.emplace(*number, known);
        return;
      }
      auto found = runs_.find(*number);
      if (found == runs_.end() || found->second.id != *id) {
        return problem("run " + to_string(*id) + ": live without a row");
      }
      if (found->second.terminal) problem("run " + to_string(*id) + ": live although it has ended");
    });
    std::uint64_t live = 0;
    for (const auto& [number, r] : runs_)
      live += r.terminal ? 0 : 1;
    if (live != report_.live_runs) problem("live: not every run that has not ended is listed");
  }

  void check_lists() {
    known_run* run = nullptr;
    run_id current;
    each(j_.db.ended, [&](const lmdb::entry& e) {
      auto name = keys::chunk_from(e.key);
      if (!name) return problem("ended: a key cannot be read");
      if (name->list == keys::seq_list::others) {
        auto others = codec::read_others(e.key, e.value);
        if (!others) return problem("run " + to_string(name->run) + ": its list is damaged");
        if (name->first == 0) {
          current = name->run;
          auto found = others->empty() ? runs_.end() : runs_.find(others->front().seq());
          run = found == runs_.end() ? nullptr : &found->second;
          if (run == nullptr || run->id != current || !run->terminal) {
            run = nullptr;
            problem("run " + to_string(current) + ": has lists but is no ended run");
          }
        }
        for (const auto& o : *others)
          count_listed(run, o.seq());
        return;
      }
      auto steps = codec::read_steps(e.key, e.value);
      if (!steps) return problem("run " + to_string(name->run) + ": its list is damaged");
      for (const auto& s : *steps)
        count_listed(name->run == current ? run : nullptr, s.seq());
    });
  }

  static void count_listed(known_run* run, std::uint64_t seq) {
    if (run == nullptr) return;
    ++run->in_lists;
    run->list_sum += mix64(seq, 0);
  }

  void check_log() {
    std::uint64_t last = 0;
    each(j_.db.log, [&](const lmdb::entry& e) {
      ++report_.records;
      auto at = keys::position_from(e.key);
      if (!at) return problem("log: a key cannot be read");
      if (at->seq == last) problem("log: position " + std::to_string(last) + " was given twice");
      last = at->seq;
      auto opened = codec::open(e.value, codec::seed_of(*at));
      if (at->run == 0)
        check_unowned(*at, opened);
      else
        check_owned(*at, opened);
    });
    const auto removed = meta_number(t_, j_.db, meta::removed);
    report_.removed = removed;
    if (report_.records + removed != last) {
      problem("log: " + std::to_string(last) + " positions were given, "
              + std::to_string(report_.records) + " are there and " + std::to_string(removed)
              + " were trimmed");
    }
  }

  void check_unowned(keys::log_position at, const result<codec::opened>& opened) {
    if (!opened) {
      next_batch_.reset();
      return problem("record " + std::to_string(at.seq) + ", of no run, fails its checksum");
    }
    if (opened->kind == codec::value_kind::event) return check_event(at, opened->frame);
    auto batch = codec::read_batch(opened->frame);
    if (opened->kind != codec::value_kind::batch || !batch) {
      return problem("record " + std::to_string(at.seq) + " cannot be read");
    }
    ++report_.batches;
    if (next_batch_ && *next_batch_ != at.seq) {
      problem("batch at " + std::to_string(at.seq) + ": one was expected at "
              + std::to_string(*next_batch_));
    }
    next_batch_ = at.seq + 1 + batch->records;
    if (batch->epoch < epoch_) problem("batch at " + std::to_string(at.seq) + ": its epoch fell");
    epoch_ = batch->epoch;
  }

  void check_owned(keys::log_position at, const result<codec::opened>& opened) {
    auto found = runs_.find(at.run);
    if (found == runs_.end()) {
      return problem("record " + std::to_string(at.seq) + " belongs to no run that is there");
    }
    auto& run = found->second;
    ++run.in_log;
    run.log_sum += mix64(at.seq, 0);
    run.begun = run.begun || at.seq == at.run;
    if (!opened || !readable(*opened, run.id, at)) {
      run.corrupt = true;
      return problem("record " + std::to_string(at.seq) + " of run " + to_string(run.id)
                     + " fails its checksum");
    }
    if (opened->kind == codec::value_kind::event) check_event(at, opened->frame);
  }

  static bool readable(const codec::opened& record, const run_id& run, keys::log_position at) {
    switch (record.kind) {
    case codec::value_kind::step:
      return codec::read_step(record.frame, run).engaged();
    case codec::value_kind::marks:
      return codec::read_marks(record.frame, run).engaged();
    case codec::value_kind::event:
      return codec::read_event(record.frame, at.seq).engaged();
    case codec::value_kind::batch:
    case codec::value_kind::run:
    case codec::value_kind::row:
    case codec::value_kind::seqs:
      return false;
    }
    return false;
  }

  void check_event(keys::log_position at, std::string_view frame) {
    auto e = codec::read_event(frame, at.seq);
    if (!e) return problem("event " + std::to_string(at.seq) + " cannot be read");
    if (at.seq == at.run && e->kind != event_kind::run_requested) {
      problem("event " + std::to_string(at.seq) + " begins a run and is no run.requested");
    }
    if (e->key.empty()) return;
    ++keyed_events_;
    auto holder = t_.get(j_.db.event_keys, keys::idempotency(e->key));
    if (!holder || keys::position_from(*holder) != at) {
      problem("event " + std::to_string(at.seq) + " is not found by its key");
    }
  }

  void check_runs() {
    for (const auto& [number, r] : runs_) {
      if (r.terminal && (r.in_lists != r.in_log || r.list_sum != r.log_sum)) {
        problem("run " + to_string(r.id) + ": its lists and its records differ");
      }
      if (!r.begun) problem("run " + to_string(r.id) + ": its first record is missing");
    }
  }

  void check_wakes() {
    std::uint64_t wakes = 0;
    each(j_.db.wakes, [&](const lmdb::entry& e) {
      ++wakes;
      auto number = keys::number_from(e.key);
      auto run = e.value.size() == 24 ? keys::run_from(e.value.substr(8)) : std::nullopt;
      auto found = number ? runs_.find(*number) : runs_.end();
      if (!run || found == runs_.end() || found->second.id != *run || found->second.terminal) {
        problem("wakes: an entry belongs to no live run");
      }
    });
    std::uint64_t due = 0;
    each(j_.db.due, [&](const lmdb::entry& e) {
      ++due;
      auto wake = t_.get(j_.db.wakes, e.value);
      if (!wake || !wake->starts_with(e.key)) problem("due: an entry is no wake-up of a run");
    });
    if (due != wakes) problem("due: not every wake-up is listed");
  }

  void check_keys() {
    if (t_.stat(j_.db.event_keys).entries != keyed_events_) {
      problem("event_keys: not every key belongs to an event");
    }
  }

  void check_tables() {
    for (std::size_t i = 0; i < table_count; ++i) {
      const auto where = static_cast<table>(i);
      each(j_.db.row(where), [&](const lmdb::entry& e) {
        ++report_.rows;
        if (!codec::read_row(where, e.key, e.value)) {
          problem("table " + std::string{to_string(where)} + ": a row fails its checksum");
        }
      });
    }
  }

  lmdb_journal& j_;
  lmdb::txn t_;
  verify_report report_;
  std::unordered_map<std::uint64_t, known_run> runs_; ///< by number
  std::vector<run_id> bad_rows_;
  std::optional<std::uint64_t> next_batch_;
  std::uint64_t epoch_ = 0;
  std::uint64_t keyed_events_ = 0;
};

} // namespace

result<store_stats> journal_stats(const std::string& folder) {
  auto j = open_beside(folder);
  if (!j) return j.error();
  return stats_of(**j, folder);
}

result<verify_report> verify_journal(const std::string& folder) {
  auto j = open_beside(folder);
  if (!j) return j.error();
  return verifier{**j}.run();
}

} // namespace sluice
