#include "storage/lmdb_memos.hpp"

#include "storage/codec.hpp"
#include "storage/keys.hpp"
#include "storage/log_walk.hpp"
#include "storage/seq_chunks.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sluice {

namespace {

/// Where a part of a run's memo lies in the log.
struct memo_plan {
  std::optional<std::uint64_t> first; ///< of the run, when the part begins it
  std::vector<std::uint64_t> versions;
  std::vector<step_place> steps;
  bool live = false;
  std::string corrupt;
};

struct places {
  std::uint64_t first = 0;
  std::vector<other_place> others;
};

std::string bad_record(std::uint64_t seq) {
  return "record " + std::to_string(seq) + " fails its checksum";
}

/// First record and others of an ended run; nothing when the store does not know it.
std::optional<places> places_of_ended(lmdb::txn& t, const lmdb_tables& db, const run_id& run,
                                      std::string& corrupt) {
  lmdb::cursor c{t, db.ended};
  const auto from = keys::chunk(run, keys::seq_list::others, 0);
  const auto to = keys::chunk(run, keys::seq_list::steps, 0);
  places found;
  bool any = false;
  for (auto e = c.from(from); e && e->key < std::string_view{to}; e = c.next()) {
    auto part = codec::read_others(e->key, e->value);
    any = true;
    if (!part)
      corrupt = detail_of(part.error());
    else
      found.others.insert(found.others.end(), part->begin(), part->end());
  }
  if (!any) return std::nullopt;
  if (!found.others.empty()) {
    found.first = found.others.front().seq();
    found.others.erase(found.others.begin());
  }
  return found;
}

std::vector<step_place> steps_of_ended(lmdb::txn& t, const lmdb_tables& db, const run_id& run,
                                       std::uint64_t from, std::size_t limit,
                                       std::string& corrupt) {
  std::vector<step_place> steps;
  const auto first = keys::chunk(run, keys::seq_list::steps, static_cast<std::uint32_t>(from));
  const auto prefix = first.bytes.data();
  const std::string_view mine{prefix, 17};
  lmdb::cursor c{t, db.ended};
  auto e = c.until(first);
  if (!e || !e->key.starts_with(mine)) e = e ? c.next() : c.first();
  for (; e && e->key.starts_with(mine) && steps.size() < limit; e = c.next()) {
    auto part = codec::read_steps(e->key, e->value);
    if (!part) {
      corrupt = detail_of(part.error());
      continue;
    }
    for (const auto& s : *part) {
      if (s.ordinal >= from && steps.size() < limit) steps.push_back(s);
    }
  }
  return steps;
}

/// Of the part that begins a run: input, versions, and what is known to be damaged.
memo_plan plan_beginning(std::uint64_t first, const auto& others) {
  memo_plan plan;
  if (first != 0) plan.first = first;
  for (const auto& o : others) {
    if (o.role() == record_role::unreadable) plan.corrupt = bad_record(o.seq());
    if (o.role() == record_role::version) plan.versions.push_back(o.seq());
  }
  return plan;
}

/// Reads the positions of many runs. The index is asked before the records are read in a later
/// transaction: what it names is then there, unless the run ended and was trimmed in between.
class memo_planner {
public:
  explicit memo_planner(lmdb_journal& j) : j_{j} {}

  memo_plan plan(const run_id& run, std::optional<std::uint32_t> after, std::size_t limit) {
    const bool begins = !after;
    const std::uint64_t from = after ? std::uint64_t{*after} + 1 : 0;
    {
      std::lock_guard guard{j_.lock};
      if (auto* records = j_.runs.find(run)) {
        memo_plan plan;
        if (begins) plan = plan_beginning(records->number, records->others());
        plan.steps = records->steps_from(from, limit);
        plan.live = true;
        if (records->corrupt_seq != 0) plan.corrupt = bad_record(records->corrupt_seq);
        return plan;
      }
    }
    if (!ended_) ended_.emplace(j_.env, lmdb::txn::mode::read);
    std::string corrupt;
    memo_plan plan;
    if (begins) {
      auto found = places_of_ended(*ended_, j_.db, run, corrupt);
      if (!found) return plan;
      plan = plan_beginning(found->first, found->others);
    }
    plan.steps = steps_of_ended(*ended_, j_.db, run, from, limit, corrupt);
    if (!corrupt.empty()) plan.corrupt = corrupt;
    return plan;
  }

  [[nodiscard]] error failure() const { return ended_ ? ended_->failure() : error{}; }

private:
  lmdb_journal& j_;
  std::optional<lmdb::txn> ended_;
};

/// One record that is wanted, and where it goes.
struct wanted {
  enum class part : std::uint8_t { input, version, step };

  std::uint64_t seq = 0;
  std::uint32_t memo = 0;
  std::uint32_t slot = 0;
  part what = part::step;
};

class memo_reader {
public:
  memo_reader(lmdb_journal& j, std::vector<memo_plan> plans, std::vector<run_memo>& memos)
    : j_{j}, plans_{std::move(plans)}, memos_{memos} {
    for (std::uint32_t m = 0; m < plans_.size(); ++m)
      want(m);
    std::sort(wanted_.begin(), wanted_.end(),
              [](const wanted& a, const wanted& b) { return a.seq < b.seq; });
  }

  error read() {
    lmdb::txn t{j_.env, lmdb::txn::mode::read};
    log_walk walk{t, j_.db.log};
    for (const auto& w : wanted_) {
      auto found = walk.at(w.seq);
      if (!found) {
        missing(t, w);
      } else if (!fill(w, *found)) {
        damaged(w);
      }
    }
    for (auto& memo : memos_) {
      std::erase_if(memo.steps, [](auto& s) { return s.ordinal == no_ordinal; });
    }
    return t.failure();
  }

private:
  void want(std::uint32_t m) {
    const auto& plan = plans_[m];
    auto& memo = memos_[m];
    memo.corrupt = !plan.corrupt.empty();
    memo.detail = plan.corrupt;
    if (plan.first) wanted_.push_back({*plan.first, m, 0, wanted::part::input});
    for (auto seq : plan.versions)
      wanted_.push_back({seq, m, 0, wanted::part::version});
    step_record absent;
    absent.ordinal = no_ordinal;
    memo.steps.resize(plan.steps.size(), absent);
    for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
      wanted_.push_back({plan.steps[i].seq(), m, i, wanted::part::step});
    }
  }

  bool fill(const wanted& w, const log_walk::record& record) {
    auto& memo = memos_[w.memo];
    auto opened = codec::open(record.value, codec::seed_of(record.at));
    if (!opened) return false;
    if (w.what == wanted::part::input) {
      if (opened->kind != codec::value_kind::event) return false;
      auto e = codec::read_event(opened->frame, w.seq);
      if (e) memo.input = std::move(e->data);
      return e.engaged();
    }
    if (opened->kind != codec::value_kind::step) return false;
    auto step = codec::read_step(opened->frame, memo.run);
    if (!step) return false;
    if (w.what == wanted::part::version)
      memo.versions.push_back(std::move(*step));
    else
      memo.steps[w.slot] = std::move(*step);
    return true;
  }

  void damaged(const wanted& w) {
    auto& memo = memos_[w.memo];
    memo.corrupt = true;
    memo.detail = bad_record(w.seq);
    std::lock_guard guard{j_.lock};
    ++j_.corrupt;
    if (auto* records = j_.runs.find(memo.run)) records->corrupt_seq = w.seq;
  }

  void missing(lmdb::txn& t, const wanted& w) {
    auto& memo = memos_[w.memo];
    // A run that ended and was trimmed since the plan was made misses its records rightly.
    if (!plans_[w.memo].live || !t.get(j_.db.live, keys::run(memo.run))) return;
    memo.corrupt = true;
    memo.detail = "record " + std::to_string(w.seq) + " is missing";
  }

  lmdb_journal& j_;
  std::vector<memo_plan> plans_;
  std::vector<run_memo>& memos_;
  std::vector<wanted> wanted_;
};

/// Positions of a run's records of one role, ascending, its first record among the events.
std::vector<std::uint64_t> seqs_of(lmdb_journal& j, const run_id& run, record_role role) {
  std::vector<std::uint64_t> seqs;
  auto take = [&](std::uint64_t first, const auto& others) {
    if (role == record_role::event && first != 0) seqs.push_back(first);
    for (const auto& o : others) {
      if (o.role() == role) seqs.push_back(o.seq());
    }
  };
  {
    std::lock_guard guard{j.lock};
    if (auto* records = j.runs.find(run)) {
      take(records->number, records->others());
      return seqs;
    }
  }
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  std::string corrupt;
  if (auto found = places_of_ended(t, j.db, run, corrupt)) take(found->first, found->others);
  return seqs;
}

} // namespace

result<step_page> read_memos(lmdb_journal& j, const std::vector<run_id>& runs, step_position after,
                             std::size_t limit) {
  limit = std::max<std::size_t>(limit, 1);
  step_page page;
  std::vector<memo_plan> plans;
  memo_planner planner{j};
  std::size_t left = limit;
  for (auto i = after.index; i < runs.size(); ++i) {
    if (left == 0 || plans.size() == limit) {
      page.next = step_position{i, std::nullopt};
      break;
    }
    auto plan = planner.plan(runs[i], i == after.index ? after.ordinal : std::nullopt, left + 1);
    const bool more = plan.steps.size() > left;
    if (more) plan.steps.pop_back();
    left -= plan.steps.size();
    page.runs.push_back({runs[i], false, {}, {}, {}, {}});
    plans.push_back(std::move(plan));
    if (more) {
      page.next = step_position{i, plans.back().steps.back().ordinal};
      break;
    }
  }
  if (auto e = planner.failure()) return e;
  if (auto e = memo_reader{j, std::move(plans), page.runs}.read()) return e;
  return page;
}

result<std::vector<put_marks>> read_marks_of(lmdb_journal& j, const run_id& run) {
  std::map<std::pair<std::string, std::uint32_t>, put_marks> newest;
  const auto seqs = seqs_of(j, run, record_role::marks);
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  log_walk walk{t, j.db.log};
  for (auto seq : seqs) {
    auto record = walk.at(seq);
    if (!record) continue;
    auto opened = codec::open(record->value, codec::seed_of(record->at));
    if (!opened) return make_error(errc::corrupt, bad_record(seq));
    auto marks = codec::read_marks(opened->frame, run);
    if (!marks) return marks.error();
    auto key = std::pair{marks->unit, marks->page};
    newest.insert_or_assign(std::move(key), std::move(*marks));
  }
  if (!t.ok()) return t.failure();
  std::vector<put_marks> all;
  all.reserve(newest.size());
  for (auto& [key, marks] : newest)
    all.push_back(std::move(marks));
  return all;
}

result<std::vector<event>> read_run_ends(lmdb_journal& j, const run_id& run) {
  std::vector<event> ends;
  const auto seqs = seqs_of(j, run, record_role::event);
  if (seqs.empty()) return ends;
  lmdb::txn t{j.env, lmdb::txn::mode::read};
  auto read = [&](std::uint64_t seq) -> std::optional<event> {
    auto record = log_walk{t, j.db.log}.at(seq);
    auto opened = record ? codec::open(record->value, codec::seed_of(record->at))
                         : make_error(errc::not_found, "");
    if (!opened || opened->kind != codec::value_kind::event) return std::nullopt;
    auto e = codec::read_event(opened->frame, seq);
    if (!e) return std::nullopt;
    return std::move(*e);
  };
  if (auto first = read(seqs.front())) ends.push_back(std::move(*first));
  // The last event of a run is its end, if it has one.
  for (auto seq = seqs.rbegin(); seq != seqs.rend(); ++seq) {
    auto e = read(*seq);
    if (!e || e->kind != event_kind::run_ended) continue;
    ends.push_back(std::move(*e));
    break;
  }
  if (!t.ok()) return t.failure();
  return ends;
}

} // namespace sluice
