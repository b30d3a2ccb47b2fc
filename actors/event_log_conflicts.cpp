#include "actors/event_log.hpp"
#include "actors/reply.hpp"

#include <caf/stateful_actor.hpp>

#include <utility>

/// Whether a run may begin while another of its installation is under way (B1). Whoever asks holds
/// the place of the installation until its run is durable, so two who ask at once are judged one
/// after the other.
namespace sluice {

namespace {

constexpr std::size_t runs_per_read = 1000;

} // namespace

void event_log_state::request_placed(run_request r, std::vector<std::string> held,
                                     runs_promise promise) {
  if (r.installation.empty()) return commit_run(r, std::move(held), promise);
  auto place = place_of(r.workflow, r.installation);
  held.push_back(place);
  auto begin = [this, place, c = contender{std::move(r), std::move(held), promise, {}}] {
    if (c.r.on_conflict == conflict_policy::queue) return commit_run(c.r, c.held, c.promise);
    with_live([this, place, c](const error& failed) mutable {
      c.others = live.at(place);
      if (!failed) return judge(std::move(c));
      free_keys(c.held);
      c.promise.deliver(failed);
    });
  };
  with_key(place, std::move(begin));
}

void event_log_state::judge(contender c) {
  if (c.others.empty()) return commit_run(c.r, std::move(c.held), c.promise);
  const auto other = c.others.back();
  c.others.pop_back();
  self->request(core.reader, caf::infinite, find_run{other})
    .then([this, c](const run_found& found) { judge_one(c, found); },
          [this, c](caf::error& e) mutable {
            free_keys(c.held);
            c.promise.deliver(std::move(e));
          });
}

void event_log_state::judge_one(contender c, const run_found& other) {
  const auto& row = other.row;
  if (!row || is_terminal(row->status) || row->status == run_status::parked)
    return judge(std::move(c));
  if (c.r.on_conflict == conflict_policy::reject) {
    free_keys(c.held);
    return reply(c.promise,
                 make_error(errc::already_running,
                            "run " + to_string(row->id) + " of this installation is under way"));
  }
  const auto* flow = flows->find(c.r.workflow);
  if (!flow->covers || !flow->covers(other.input, c.r.input)) return judge(std::move(c));
  free_keys(c.held);
  c.promise.deliver(runs_accepted{{{row->id, row->correlation, row->status, true}}});
}

void event_log_state::find_live(const find_live_runs& what,
                                caf::typed_response_promise<live_runs_found> promise) {
  const auto place = place_of(what.workflow, what.installation);
  with_key(place, [this, place, promise] {
    with_live([this, place, promise](const error& failed) mutable {
      auto runs = live.at(place);
      free_key(place);
      if (failed) return reply(promise, failed);
      promise.deliver(live_runs_found{std::move(runs)});
    });
  });
}

void event_log_state::with_live(live_reader then) {
  if (live.filled() == live_index::phase::complete) return then({});
  live_waiting.push_back(std::move(then));
  if (live.filled() == live_index::phase::loading) return;
  live.fill(live_index::phase::loading);
  load_live({});
}

void event_log_state::load_live(std::optional<run_id> after) {
  self->request(core.reader, caf::infinite, load_runs{after, runs_per_read})
    .then(
      [this](const live_run_page& page) {
        for (const auto& run : page.runs) {
          if (!run.corrupt) live.add(run.row);
        }
        if (page.next) return load_live(page.next);
        live_loaded({});
      },
      [this](const caf::error& e) { live_loaded(e); });
}

void event_log_state::live_loaded(const error& failed) {
  live.fill(failed ? live_index::phase::empty : live_index::phase::complete);
  for (auto& then : std::exchange(live_waiting, {}))
    then(failed);
}

} // namespace sluice
