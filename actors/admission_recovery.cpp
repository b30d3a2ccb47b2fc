#include "actors/admission.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"

namespace sluice {

namespace {

constexpr std::size_t page_runs = 5000;

} // namespace

caf::result<recovered> admission_state::recover_all() {
  recovering = true;
  recovery = self->make_response_promise<recovered>();
  // Throttles first: a run that waits behind one must not be let through by a fresh bucket.
  self->request(core.reader, caf::infinite, stored_throttles())
    .then(
      [this](const table_page& page) {
        for (const auto& row : page.rows)
          if (auto known = json::decode<bucket>(row.value)) throttles[row.key].state = *known;
        load_page({});
      },
      [this](caf::error& e) { recovery.deliver(std::move(e)); });
  return recovery;
}

void admission_state::load_page(std::optional<run_id> after) {
  self->request(core.reader, caf::infinite, load_runs{after, page_runs})
    .then(
      [this](live_run_page& page) {
        for (auto& known : page.runs) {
          if (known.corrupt && mutated(mutant::recovery_stops_at_bad_run)) {
            page.next.reset();
            break;
          }
          take_back(known);
        }
        if (page.next) {
          load_page(page.next);
        } else {
          recovering = false;
          left_early.clear();
          next_suspect();
          recovery.deliver(found);
        }
        pump();
        send_starts();
      },
      [this, after](const caf::error& e) {
        // One bad run cannot stop the others, and a store error is never swallowed (F10).
        log::error("loading runs failed, trying again", {{"error", to_text(e)}});
        unread = after;
        self->delayed_send(self, std::chrono::seconds{1}, tick_atom_v);
      });
}

void admission_state::take_back(live_run& known) {
  const auto id = known.row.id;
  if (hosted.contains(id) || others.contains(id) || left_early.contains(id)) return;
  if (known.corrupt && known.row.workflow.empty()) {
    // The row itself is damaged: it is shown as parked, and nothing is written over it (F23).
    known.row.status = run_status::parked;
    known.row.reason = "corrupt: the row of this run fails its checksum";
    ++found.parked;
    others[id] = {whereabouts::parked, {}, parked_start(known.row, known.first_seq)};
    return;
  }
  run_start start;
  start.row = std::move(known.row);
  start.kind = start_kind::resumed;
  start.first_seq = known.first_seq;
  start.last_result_seq = known.last_result_seq;
  if (start.row.status == run_status::parked) {
    ++found.parked;
    others[id] = {whereabouts::parked, {}, std::move(start)};
    return;
  }
  const auto* flow = flows->find(start.row.workflow);
  if (flow == nullptr) {
    ++found.parked;
    auto reason = "unknown workflow: this build has none called '" + start.row.workflow + "'";
    return park(std::move(start), std::move(reason));
  }
  ++found.runs;
  const crash_history history{start.row.crashes, start.row.crash_seq, start.last_result_seq, clean,
                              false};
  const auto verdict = judge_restart(history, crashes);
  start.row.crashes = effective_crashes(history);
  start.count_crash = !clean;
  // One that never began waits again. It may have been at its first step, which leaves no record:
  // the count, which is raised when it starts, tells at the next restart.
  if (start.row.started_at == never && start.row.why == ending::none && start.row.crashes == 0)
    return admit(std::move(start));
  book.restore(id, claims_of(*flow, start.row), turn_key(start.row));
  if (verdict.mode == restart_mode::normal) {
    others[id] = {whereabouts::queued, {}, std::move(start)};
    return launch(id);
  }
  // One that merely waits is not counted, and its host knows that only when it has its memo.
  start.last_straw = verdict.mode == restart_mode::park;
  start.suspect = true;
  others[id] = {whereabouts::suspected, {}, std::move(start)};
  suspects.push_back(id);
}

/// How a parked run is kept: ready to be resumed or cancelled.
run_start admission_state::parked_start(run_row row, std::uint64_t first_seq) {
  run_start start;
  start.row = std::move(row);
  start.first_seq = first_seq;
  start.kind = start_kind::resumed;
  return start;
}

void admission_state::park(run_start start, std::string reason) {
  auto& row = start.row;
  log::warning("a run is parked", {{"run", to_string(row.id)}, {"reason", reason}});
  row.status = run_status::parked;
  row.reason = std::move(reason);
  append order;
  order.ops.push_back(put_run{row});
  self->send(core.journal, std::move(order));
  const auto id = row.id;
  others[id] = {whereabouts::parked, {}, std::move(start)};
}

void admission_state::next_suspect() {
  if (!suspect.is_nil() || draining) return;
  while (!suspects.empty()) {
    const auto id = suspects.front();
    suspects.pop_front();
    auto known = others.find(id);
    if (known == others.end() || known->second.where != whereabouts::suspected) continue;
    suspect = id;
    known->second.where = whereabouts::queued;
    return launch(id);
  }
}

} // namespace sluice
