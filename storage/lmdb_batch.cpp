#include "storage/lmdb_batch.hpp"

#include "storage/codec.hpp"
#include "storage/lmdb_trim.hpp"
#include "storage/seq_chunks.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>

namespace sluice {

namespace {

bool is_result(const step_record& s) noexcept {
  return s.status == step_status::done || s.status == step_status::failed;
}

} // namespace

batch_writer::batch_writer(lmdb_journal& j, lmdb::txn& t, bool room)
  : j_{j}, t_{t}, log_{t, j.db.log}, room_{room}, head_{j.head} {}

commit_result batch_writer::write(const batch& b) {
  auto refuse = [&](commit_status s, std::string why) {
    return commit_result{b.id, s, head_, std::move(why)};
  };
  if (b.shard != 0) return refuse(commit_status::failed, "the embedded store has one shard");
  if (b.epoch != j_.epoch) return refuse(commit_status::fenced, "another epoch");
  if (b.expected_head != head_) return refuse(commit_status::conflict, "the head is elsewhere");
  if (!room_ && !only_removes(b.ops))
    return refuse(commit_status::full, "too little room on the disk");
  lookups_.clear();
  lookup_ = 0;
  judging_ = true;
  auto problem = broken_rule(b, *this);
  judging_ = false;
  if (problem) return refuse(commit_status::failed, *problem);

  lookup_ = 0;
  records_.reserve(records_.size() + b.ops.size());
  begin_runs(b);
  batch_seq_ = ++head_;
  const codec::batch_record own{b.id, b.epoch, b.at, positions_of(b) - 1};
  const keys::log_position at{batch_seq_, 0};
  if (char* out = log_.append(keys::position(at), codec::bytes_of(own))) codec::write(out, at, own);
  for (const auto& o : b.ops)
    std::visit([this](const auto& x) { put(x); }, o);
  end_runs();
  wrote_ = true;
  return {b.id, commit_status::committed, head_, {}};
}

void batch_writer::apply() {
  std::lock_guard guard{j_.lock};
  j_.runs.adopt(created_);
  for (std::size_t i = 0; i < records_.size(); ++i) {
    // With many live runs each record touches memory that nobody touched lately.
    if (i + 16 < records_.size()) __builtin_prefetch(records_[i + 16].run);
    if (i + 8 < records_.size() && records_[i + 8].run != nullptr) records_[i + 8].run->prefetch();
    if (records_[i].run != nullptr) add(*records_[i].run, records_[i]);
  }
  for (const auto& [topic, seq] : events_)
    j_.events.add(topic, seq);
  for (const auto& run : ended_)
    j_.runs.remove(run);
  j_.events.prune(j_.runs.oldest());
  j_.head = head_;
}

run_state batch_writer::state_of(const run_id& run) {
  if (!ended_.empty() && ended_.contains(run)) return run_state::ended;
  if (live(run) != nullptr) return run_state::live;
  return t_.get(j_.db.runs, keys::run(run)) ? run_state::ended : run_state::unknown;
}

bool batch_writer::key_used(std::string_view idempotency_key) {
  return t_.get(j_.db.event_keys, keys::idempotency(idempotency_key)).has_value();
}

run_records* batch_writer::live(const run_id& run) {
  for (auto i = lookup_; i < std::min(lookup_ + 2, lookups_.size()); ++i) {
    if (lookups_[i].first != run || lookups_[i].second == nullptr) continue;
    lookup_ = i;
    return lookups_[i].second;
  }
  auto* found = j_.runs.find(run);
  if (found == nullptr && !created_.empty()) {
    auto created = created_.find(run);
    if (created != created_.end()) found = &created->second;
  }
  if (judging_) lookups_.emplace_back(run, found);
  return found;
}

/// Gives the runs that this batch begins their numbers, so that a row may stand before the event.
void batch_writer::begin_runs(const batch& b) {
  auto seq = head_ + 1;
  for (const auto& o : b.ops) {
    if (is_logged(o)) ++seq;
    const auto* e = std::get_if<put_event>(&o);
    if (e == nullptr || e->what->kind != event_kind::run_requested) continue;
    created_.emplace(e->what->run, run_records{seq});
    t_.put(j_.db.live, keys::run(e->what->run), keys::number(seq));
  }
}

void batch_writer::put(const put_step& o) {
  auto* run = live(o.step.run);
  const keys::log_position at{++head_, run->number};
  const auto bytes = codec::bytes_of(o.step);
  char* out = log_.append(keys::position(at), bytes);
  if (out == nullptr) return;
  codec::write(out, at, o.step);
  const auto role = o.step.ordinal == no_ordinal ? record_role::version : record_role::step;
  records_.push_back(
    {run, at.seq, o.step.ordinal, static_cast<std::uint32_t>(bytes), role, is_result(o.step)});
}

void batch_writer::put(const put_marks& o) {
  auto* run = live(o.run);
  const keys::log_position at{++head_, run->number};
  const auto bytes = codec::bytes_of(o);
  char* out = log_.append(keys::position(at), bytes);
  if (out == nullptr) return;
  codec::write(out, at, o);
  records_.push_back({run, at.seq, 0, static_cast<std::uint32_t>(bytes), record_role::marks, true});
}

void batch_writer::put(const put_event& o) {
  const auto& e = *o.what;
  auto* run = e.run.is_nil() ? nullptr : live(e.run);
  const keys::log_position at{++head_, run == nullptr ? 0 : run->number};
  const auto head = codec::event_head(e);
  const auto bytes = codec::bytes_of(e, head);
  char* out = log_.append(keys::position(at), bytes);
  if (out == nullptr) return;
  codec::write(out, at, e, head);
  records_.push_back(
    {run, at.seq, 0, static_cast<std::uint32_t>(bytes), record_role::event, false});
  events_.emplace_back(codec::topic_of(e.kind, e.subject), at.seq);
  if (!e.key.empty()) t_.put(j_.db.event_keys, keys::idempotency(e.key), keys::position(at));
}

void batch_writer::put(const put_run& o) {
  const auto& row = *o.row;
  t_.put(j_.db.runs, keys::run(row.id), codec::write_run(row, live(row.id)->number));
  if (is_terminal(row.status)) ending_.push_back(row.id);
}

void batch_writer::put(const set_wake& o) {
  if (auto* run = live(o.run)) set_wake_of(run->number, o.run, o.at);
}

void batch_writer::put(const put_row& o) {
  t_.put(j_.db.row(o.where), o.key, codec::write_row(o.where, o.key, o.value));
}

void batch_writer::put(const del_row& o) {
  t_.del(j_.db.row(o.where), o.key);
}

void batch_writer::put(const trim_run& o) {
  if (state_of(o.run) == run_state::ended) remove_run_slice(t_, j_.db, o);
}

void batch_writer::put(const trim_log& o) {
  remove_log_slice(t_, j_.db, o, batch_seq_);
}

void batch_writer::set_wake_of(std::uint64_t number, const run_id& run, timestamp at) {
  const auto key = keys::number(number);
  if (auto old = t_.get(j_.db.wakes, key); old && old->size() >= 8) {
    t_.del(j_.db.due, std::string{old->substr(0, 8)}, key);
  }
  if (at == never) {
    t_.del(j_.db.wakes, key);
    return;
  }
  const auto instant = keys::instant(at);
  t_.put(j_.db.wakes, key, std::string{instant}.append(keys::run(run)));
  t_.put(j_.db.due, instant, key);
}

/// What an ended run leaves is found through its lists of positions, no longer through memory.
void batch_writer::end_runs() {
  if (ending_.empty()) return;
  std::unordered_map<const run_records*, run_records> complete;
  {
    std::lock_guard guard{j_.lock};
    for (const auto& run : ending_)
      complete.emplace(live(run), *live(run));
  }
  for (const auto& p : records_) {
    if (auto found = complete.find(p.run); found != complete.end()) add(found->second, p);
  }
  for (const auto& run : ending_) {
    auto* records = live(run);
    write_seqs(run, complete.at(records));
    set_wake_of(records->number, run, never);
    t_.del(j_.db.live, keys::run(run));
    ended_.insert(run);
  }
  ending_.clear();
}

void batch_writer::write_seqs(const run_id& run, run_records& records) {
  std::vector<other_place> others{other_place::at(record_role::event, records.number)};
  const auto& rest = records.others();
  others.insert(others.end(), rest.begin(), rest.end());
  for (std::size_t i = 0; i < others.size(); i += codec::chunk_entries) {
    const auto count = std::min(codec::chunk_entries, others.size() - i);
    const auto key = keys::chunk(run, keys::seq_list::others,
                                 static_cast<std::uint32_t>(i / codec::chunk_entries));
    t_.put(j_.db.ended, key, codec::write_others(key, std::span{others}.subspan(i, count)));
  }
  const auto& steps = records.steps();
  const std::span all{steps.begin(), steps.end()};
  for (std::size_t i = 0; i < all.size(); i += codec::chunk_entries) {
    const auto part = all.subspan(i, std::min(codec::chunk_entries, all.size() - i));
    const auto key = keys::chunk(run, keys::seq_list::steps, part.front().ordinal);
    t_.put(j_.db.ended, key, codec::write_steps(key, part));
  }
}

void batch_writer::add(run_records& to, const pending_record& p) {
  ++to.records;
  to.bytes += p.bytes;
  if (p.seq != to.number) to.add(p.role, p.seq, p.ordinal);
  if (p.result) to.last_result = p.seq;
}

} // namespace sluice
