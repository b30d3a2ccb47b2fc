#include "storage/memory_store.hpp"

#include "storage/codec.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace sluice {

memory_store::memory_store(std::shared_ptr<memory_disk> disk) : disk_{std::move(disk)} {}

result<shard_grant> memory_store::open() {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  epoch_ = ++disk_->epoch;
  auto& node = disk_->tables[static_cast<std::size_t>(table::node)];
  const bool clean = node.erase("clean") > 0;
  return shard_grant{0, epoch_, disk_->head, clean};
}

// -- writing ----------------------------------------------------------------------

void memory_store::submit(const std::vector<batch>& batches) {
  for (auto& b : batches)
    waiting_.push_back({std::move(b), slow_polls});
}

std::vector<commit_result> memory_store::finished(duration) {
  std::vector<commit_result> done;
  while (!waiting_.empty()) {
    auto& next = waiting_.front();
    if (next.polls_left > 0) {
      --next.polls_left;
      break;
    }
    done.push_back(commit(next.what));
    waiting_.pop_front();
  }
  return done;
}

commit_result memory_store::commit(const batch& b) {
  const auto injected = fault ? fault(b) : commit_fault::none;
  commit_result answer;
  {
    std::lock_guard guard{disk_->lock};
    answer = judge(b, injected);
  }
  const bool written =
    answer.status == commit_status::committed
    || (answer.status == commit_status::unknown && injected == commit_fault::unknown_written);
  if (written && disk_->on_commit) disk_->on_commit(*disk_, b);
  return answer;
}

commit_result memory_store::judge(const batch& b, commit_fault injected) {
  auto refuse = [&](commit_status s, std::string why) {
    return commit_result{b.id, s, disk_->head, std::move(why)};
  };
  switch (injected) {
  case commit_fault::fail:
    return refuse(commit_status::failed, "injected");
  case commit_fault::full:
    return refuse(commit_status::full, "injected");
  case commit_fault::conflict:
    return refuse(commit_status::conflict, "injected");
  case commit_fault::fenced:
    return refuse(commit_status::fenced, "injected");
  case commit_fault::unknown_absent:
    return refuse(commit_status::unknown, "injected");
  case commit_fault::unknown_written:
  case commit_fault::none:
    break;
  }
  if (b.shard != 0) return refuse(commit_status::failed, "the embedded store has one shard");
  if (b.epoch != disk_->epoch || epoch_ != disk_->epoch) {
    return refuse(commit_status::fenced, "another epoch");
  }
  if (b.expected_head != disk_->head) {
    return refuse(commit_status::conflict, "the head is elsewhere");
  }
  if (disk_->too_large(b)) return refuse(commit_status::full, "over the quota");
  if (auto problem = disk_->problem_with(b)) return refuse(commit_status::failed, *problem);
  disk_->apply(b);
  if (injected == commit_fault::unknown_written) {
    return refuse(commit_status::unknown, "injected");
  }
  return {b.id, commit_status::committed, disk_->head, {}};
}

probe_answer memory_store::probe(std::uint32_t, std::uint64_t epoch, batch_id id,
                                 std::uint64_t expected_head) {
  std::lock_guard guard{disk_->lock};
  if (epoch != disk_->epoch || epoch_ != disk_->epoch) return probe_answer::fenced;
  if (disk_->head < expected_head) return probe_answer::regressed;
  auto found = disk_->log.find(expected_head + 1);
  if (found == disk_->log.end()) return probe_answer::absent;
  const auto* own = std::get_if<codec::batch_record>(&found->second.what);
  return own != nullptr && own->id == id ? probe_answer::committed : probe_answer::absent;
}

// -- reading ----------------------------------------------------------------------

error memory_store::read_fault() {
  if (failing_reads == 0) return {};
  --failing_reads;
  return make_error(errc::storage_failed, "injected");
}

result<live_run_page> memory_store::load_runs(std::uint32_t, std::optional<run_id> after,
                                              std::size_t limit) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  live_run_page page;
  limit = std::max<std::size_t>(limit, 1);
  auto it = after ? disk_->runs.upper_bound(*after) : disk_->runs.begin();
  for (; it != disk_->runs.end(); ++it) {
    const auto& [id, r] = *it;
    if (is_terminal(r.row.status)) continue;
    if (page.runs.size() == limit) {
      page.next = page.runs.back().row.id;
      break;
    }
    live_run run{r.row, r.wake_at, r.number, 0, r.seqs.size(), 0, r.row_corrupt};
    if (r.row_corrupt) {
      run.row = {};
      run.row.id = id;
    }
    for (auto seq : r.seqs) {
      const auto& record = disk_->log.at(seq);
      run.bytes += record.bytes;
      run.corrupt = run.corrupt || record.corrupt;
      const auto* step = std::get_if<step_record>(&record.what);
      const bool result =
        step != nullptr ? step->status == step_status::done || step->status == step_status::failed
                        : std::holds_alternative<put_marks>(record.what);
      if (result && !record.corrupt) run.last_result_seq = seq;
    }
    page.runs.push_back(std::move(run));
  }
  return page;
}

result<step_page> memory_store::load_steps(std::uint32_t, const std::vector<run_id>& runs,
                                           step_position after, std::size_t limit) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  step_page page;
  limit = std::max<std::size_t>(limit, 1);
  std::size_t left = limit;
  for (auto i = after.index; i < runs.size(); ++i) {
    if (left == 0 || page.runs.size() == limit) {
      page.next = step_position{i, std::nullopt};
      break;
    }
    const auto from = i == after.index ? after.ordinal : std::nullopt;
    auto& memo = page.runs.emplace_back();
    memo.run = runs[i];
    auto found = disk_->runs.find(runs[i]);
    if (found == disk_->runs.end()) continue;
    for (auto seq : found->second.seqs) {
      const auto& record = disk_->log.at(seq);
      if (record.corrupt) {
        memo.corrupt = true;
        memo.detail = "record " + std::to_string(seq) + " fails its checksum";
      } else if (from) {
        continue;
      } else if (const auto* s = std::get_if<step_record>(&record.what)) {
        if (s->ordinal == no_ordinal) memo.versions.push_back(*s);
      } else if (const auto* e = std::get_if<event>(&record.what)) {
        if (seq == found->second.number) memo.input = e->data;
      }
    }
    const auto& steps = found->second.steps;
    auto s = from ? steps.upper_bound(*from) : steps.begin();
    for (; s != steps.end() && left > 0; ++s, --left) {
      const auto& record = disk_->log.at(s->second);
      if (!record.corrupt) memo.steps.push_back(std::get<step_record>(record.what));
    }
    if (s != steps.end()) {
      page.next = step_position{i, std::prev(s)->first};
      break;
    }
  }
  return page;
}

bool memory_store::is_live(run_id run) {
  std::lock_guard guard{disk_->lock};
  auto found = disk_->runs.find(run);
  return found != disk_->runs.end() && !is_terminal(found->second.row.status);
}

result<std::vector<put_marks>> memory_store::load_marks(std::uint32_t, run_id run) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  std::map<std::pair<std::string, std::uint32_t>, put_marks> newest;
  if (auto found = disk_->runs.find(run); found != disk_->runs.end()) {
    for (auto seq : found->second.seqs) {
      const auto* m = std::get_if<put_marks>(&disk_->log.at(seq).what);
      if (m != nullptr) newest.insert_or_assign({m->unit, m->page}, *m);
    }
  }
  std::vector<put_marks> all;
  for (auto& [key, marks] : newest)
    all.push_back(std::move(marks));
  return all;
}

result<std::vector<due_run>> memory_store::due(std::uint32_t, timestamp until, std::size_t limit) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  std::map<std::pair<timestamp, std::uint64_t>, run_id> sorted;
  for (const auto& [id, r] : disk_->runs) {
    if (r.wake_at != never && r.wake_at <= until)
      sorted.emplace(std::pair{r.wake_at, r.number}, id);
  }
  std::vector<due_run> due;
  for (const auto& [key, id] : sorted) {
    if (due.size() == limit) break;
    due.push_back({id, key.first});
  }
  return due;
}

result<std::vector<event>> memory_store::read_events(std::uint32_t, std::uint64_t after_seq,
                                                     std::size_t limit) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  std::vector<event> events;
  for (auto it = disk_->log.upper_bound(after_seq); it != disk_->log.end(); ++it) {
    if (events.size() == limit) break;
    const auto* e = std::get_if<event>(&it->second.what);
    if (e != nullptr && !it->second.corrupt) events.push_back(*e);
  }
  return events;
}

result<std::vector<event>> memory_store::find_events(std::uint32_t, std::string_view kind,
                                                     std::string_view subject,
                                                     std::uint64_t after_seq, std::size_t limit) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  std::vector<event> events;
  if (kind == event_kind::run_requested || kind == event_kind::step_failed) return events;
  auto it = disk_->log.lower_bound(disk_->oldest_live());
  for (; it != disk_->log.end() && events.size() < limit; ++it) {
    const auto* e = std::get_if<event>(&it->second.what);
    if (e != nullptr && !it->second.corrupt && it->first > after_seq && e->kind == kind
        && e->subject == subject) {
      events.push_back(*e);
    }
  }
  return events;
}

result<std::optional<event>> memory_store::find_event(std::uint32_t, std::string_view key) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  auto found = disk_->event_keys.find(key);
  if (found == disk_->event_keys.end()) return std::optional<event>{};
  return std::optional<event>{std::get<event>(disk_->log.at(found->second).what)};
}

result<std::vector<event>> memory_store::run_ends(std::uint32_t, run_id run) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  std::vector<event> ends;
  auto found = disk_->runs.find(run);
  if (found == disk_->runs.end()) return ends;
  const auto& r = found->second;
  if (auto first = disk_->log.find(r.number); first != disk_->log.end()) {
    if (!first->second.corrupt) ends.push_back(std::get<event>(first->second.what));
  }
  for (auto seq = r.seqs.rbegin(); seq != r.seqs.rend(); ++seq) {
    const auto& record = disk_->log.at(*seq);
    const auto* e = std::get_if<event>(&record.what);
    if (e == nullptr || record.corrupt || e->kind != event_kind::run_ended) continue;
    ends.push_back(*e);
    break;
  }
  return ends;
}

result<std::optional<run_row>> memory_store::find_run(std::uint32_t, run_id run) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  auto found = disk_->runs.find(run);
  if (found == disk_->runs.end()) return std::optional<run_row>{};
  if (found->second.row_corrupt) {
    return make_error(errc::corrupt, "the row of run " + to_string(run) + " fails its checksum");
  }
  return std::optional<run_row>{found->second.row};
}

result<run_page> memory_store::query(std::string_view tenant, const run_filter& filter,
                                     std::optional<run_id> before, std::size_t limit) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  run_page page;
  auto it = before ? disk_->runs.lower_bound(*before) : disk_->runs.end();
  while (it != disk_->runs.begin()) {
    if (page.runs.size() >= limit) {
      if (!page.runs.empty()) page.next = page.runs.back().id;
      break;
    }
    const auto& row = (--it)->second.row;
    const bool fits = !it->second.row_corrupt && (tenant.empty() || row.tenant == tenant)
                      && (!filter.status || row.status == *filter.status)
                      && (filter.workflow.empty() || row.workflow == filter.workflow)
                      && (filter.installation.empty() || row.installation == filter.installation)
                      && (filter.ended_before == never
                          || (row.ended_at != never && row.ended_at < filter.ended_before));
    if (fits) page.runs.push_back(row);
  }
  return page;
}

store_stats memory_store::stats() {
  std::lock_guard guard{disk_->lock};
  store_stats s;
  s.used_bytes = s.file_bytes = disk_->used_bytes;
  s.free_bytes = ~std::uint64_t{0};
  if (disk_->quota_bytes != 0) {
    s.free_bytes = disk_->quota_bytes - std::min(disk_->quota_bytes, disk_->used_bytes);
  }
  s.head = disk_->head;
  s.trimmed = disk_->trimmed;
  s.log_records = disk_->log.size();
  s.runs = disk_->runs.size();
  for (const auto& [id, r] : disk_->runs)
    s.live_runs += is_terminal(r.row.status) ? 0 : 1;
  for (const auto& [seq, r] : disk_->log)
    s.corrupt_records += r.corrupt ? 1 : 0;
  s.epoch = disk_->epoch;
  s.store_id = "memory";
  return s;
}

result<std::vector<table_row>> memory_store::load(table where, std::uint32_t,
                                                  std::string_view prefix, std::string_view after,
                                                  std::size_t limit) {
  if (auto e = read_fault()) return e;
  std::lock_guard guard{disk_->lock};
  std::vector<table_row> rows;
  if (static_cast<std::size_t>(where) >= table_count) {
    return make_error(errc::bad_input, "no such table");
  }
  const auto& all = disk_->tables[static_cast<std::size_t>(where)];
  auto it = after.empty()
              ? all.lower_bound(prefix)
              : std::max(all.lower_bound(prefix), all.upper_bound(after), [&](auto a, auto b) {
                  if (a == all.end()) return false;
                  return b == all.end() || a->first < b->first;
                });
  for (; it != all.end() && rows.size() < limit && it->first.starts_with(prefix); ++it) {
    rows.push_back({it->first, it->second});
  }
  return rows;
}

} // namespace sluice
