#include "actors/admission.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"

namespace sluice {

namespace {

constexpr std::size_t page_runs = 5000;

} // namespace

caf::result<recovered> admission_state::recover_all(bool clean) {
  recovering = true;
  recovery = self->make_response_promise<recovered>();
  // Throttles first: a run that waits behind one must not be let through by a fresh bucket.
  self->request(core.reader, caf::infinite, stored_throttles())
    .then(
      [this, clean](const table_page& page) {
        for (const auto& row : page.rows)
          if (auto known = json::decode<bucket>(row.value)) throttles[row.key].state = *known;
        load_page({}, clean);
      },
      [this](caf::error& e) { recovery.deliver(std::move(e)); });
  return recovery;
}

void admission_state::load_page(std::optional<run_id> after, bool clean) {
  self->request(core.reader, caf::infinite, load_runs{after, page_runs})
    .then(
      [this, clean](live_run_page& page) {
        for (auto& known : page.runs) {
          if (known.corrupt && mutated(mutant::recovery_stops_at_bad_run)) {
            page.next.reset();
            break;
          }
          take_back(known, clean);
        }
        if (page.next) {
          load_page(page.next, clean);
        } else {
          recovering = false;
          next_suspect();
          recovery.deliver(found);
        }
        pump();
        send_starts();
      },
      [this, after, clean](const caf::error& e) {
        // One bad run cannot stop the others, and a store error is never swallowed (F10).
        log::error("loading runs failed, trying again", {{"error", to_text(e)}});
        load_page(after, clean);
      });
}

void admission_state::take_back(live_run& known, bool clean) {
  const auto id = known.row.id;
  if (hosted.contains(id) || others.contains(id)) return;
  if (known.corrupt && known.row.workflow.empty()) {
    // The row itself is damaged: it is shown as parked, and nothing is written over it (F23).
    known.row.status = run_status::parked;
    known.row.reason = "corrupt: the row of this run fails its checksum";
    ++found.parked;
    others[id] = {whereabouts::parked, {}, parked_start(known.row)};
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
    return park(std::move(start.row),
                "unknown workflow: this build has none called '" + start.row.workflow + "'");
  }
  ++found.runs;
  start.count_crash = !clean;
  // It waited for a slot, or its first step killed the process before anything was written: counted
  // when it begins, not while it waits.
  if (start.row.started_at == never && start.row.why == ending::none)
    return admit(std::move(start));
  const crash_history history{start.row.crashes, start.row.crash_seq, start.last_result_seq, clean,
                              false};
  const auto verdict = judge_restart(history, crashes);
  start.row.crashes = effective_crashes(history);
  if (verdict.mode == restart_mode::park && !mutated(mutant::crash_not_counted)) {
    ++found.parked;
    return park(std::move(start.row), "crashes: the process died "
                                        + std::to_string(start.row.crashes)
                                        + " times while this run was at work");
  }
  book.restore(id, claims_of(*flow, start.row), turn_key(start.row));
  if (verdict.mode == restart_mode::alone) {
    start.suspect = true;
    others[id] = {whereabouts::suspected, {}, std::move(start)};
    suspects.push_back(id);
    return;
  }
  others[id] = {whereabouts::queued, {}, std::move(start)};
  launch(id);
}

/// How a parked run is kept: ready to be resumed or cancelled.
run_start admission_state::parked_start(run_row row) {
  run_start start;
  start.row = std::move(row);
  start.kind = start_kind::resumed;
  return start;
}

void admission_state::park(run_row row, std::string reason) {
  log::warning("a run is parked", {{"run", to_string(row.id)}, {"reason", reason}});
  row.status = run_status::parked;
  row.reason = std::move(reason);
  append order;
  order.ops.push_back(put_run{row});
  self->send(core.journal, std::move(order));
  const auto id = row.id;
  others[id] = {whereabouts::parked, {}, parked_start(std::move(row))};
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
