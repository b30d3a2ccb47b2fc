#include "actors/reader.hpp"

#include <caf/stateful_actor.hpp>

namespace sluice {

namespace {

constexpr std::uint32_t shard = 0;

/// The answer of the store, or its error for the asker.
template <class T>
caf::result<T> answer(result<T>&& from) {
  if (!from) return std::move(from.error());
  return std::move(*from);
}

caf::result<found_events> look_up(store& disk, const find_events& q) {
  found_events found;
  found.ids = q.ids;
  found.events.reserve(q.ids.size());
  for (std::size_t i = 0; i < q.ids.size(); ++i) {
    auto events = disk.find_events(shard, q.kinds[i], q.subjects[i], q.after[i], 1);
    if (!events) return std::move(events.error());
    auto& place = found.events.emplace_back();
    if (!events->empty()) place = std::move(events->front());
  }
  return found;
}

caf::result<found_keys> look_up(store& disk, const find_keys& q) {
  found_keys found;
  for (const auto& key : q.keys) {
    auto known = disk.find_event(shard, key);
    if (!known) return std::move(known.error());
    found.events.push_back(std::move(*known));
  }
  return found;
}

caf::result<run_found> look_up(store& disk, const find_run& q) {
  run_found found;
  auto row = disk.find_run(shard, q.run);
  if (!row) return std::move(row.error());
  found.row = std::move(*row);
  if (!found.row) return found;
  auto ends = disk.run_ends(shard, q.run);
  if (!ends) return std::move(ends.error());
  for (auto& e : *ends) {
    if (e.kind == event_kind::run_requested)
      found.input = std::move(e.data);
    else if (e.kind == event_kind::run_ended)
      found.ended = std::move(e);
  }
  return found;
}

} // namespace

reader_actor::behavior_type reader(reader_actor::stateful_pointer<reader_state> self, store* disk) {
  return {
    [self](inspect_atom) { return card_of(self, "reading"); },
    counted(self,
            [disk](const load_runs& q) -> caf::result<live_run_page> {
              return answer(disk->load_runs(shard, q.after, q.limit));
            }),
    counted(self,
            [disk](const load_steps& q) -> caf::result<step_page> {
              return answer(disk->load_steps(shard, q.runs, q.after, q.limit));
            }),
    counted(self,
            [disk](const load_marks& q) -> caf::result<marks_loaded> {
              auto marks = disk->load_marks(shard, q.run);
              if (!marks) return std::move(marks.error());
              return marks_loaded{std::move(*marks)};
            }),
    counted(self,
            [disk](const find_due& q) -> caf::result<due_runs> {
              auto runs = disk->due(shard, q.until, q.limit);
              if (!runs) return std::move(runs.error());
              return due_runs{std::move(*runs)};
            }),
    counted(self, [disk](const find_events& q) { return look_up(*disk, q); }),
    counted(self, [disk](const find_keys& q) { return look_up(*disk, q); }),
    counted(self, [disk](const find_run& q) { return look_up(*disk, q); }),
    counted(self,
            [disk](const query_runs& q) -> caf::result<run_page> {
              return answer(disk->query(q.tenant, q.filter, q.before, q.limit));
            }),
    counted(self,
            [disk](const load_table& q) -> caf::result<table_page> {
              auto rows = disk->load(q.where, shard, q.prefix, q.after, q.limit);
              if (!rows) return std::move(rows.error());
              return table_page{std::move(*rows)};
            }),
    counted(self, [disk](const read_stats&) -> caf::result<store_stats> { return disk->stats(); }),
  };
}

} // namespace sluice
