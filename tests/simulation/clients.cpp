#include "tests/simulation/flows.hpp"
#include "tests/simulation/simulation.hpp"

#include <algorithm>

namespace sluice::simulation {

namespace {

/// A client that heard nothing, or an error, asks again after this long.
constexpr duration patience{3000};

} // namespace

void simulation::plan_clients() {
  dice d{options_.seed, 5};
  for (std::uint32_t n = 1; n <= options_.runs; ++n)
    history_.programs.push_back(draw_program(d, "p" + std::to_string(n), options_.shapes));
  if (options_.faults.poison) {
    auto& victim = history_.programs[d.below(history_.programs.size())];
    act a;
    a.kind = act_kind::poison;
    a.name = "poison";
    const auto where = static_cast<std::ptrdiff_t>(d.below(victim.acts.size() + 1));
    victim.acts.insert(victim.acts.begin() + where, std::move(a));
  }
  for (std::size_t i = 0; i < history_.programs.size(); ++i) {
    report_.programs.push_back(to_text(history_.programs[i]));
    at(clients_.chance(50) ? duration{} : clients_.millis(0, 5000), [this, i] { request(i); });
  }
  if (options_.shapes.events) {
    for (auto n = clients_.between(0, 8); n > 0; --n) {
      const auto subject = "go-" + std::to_string(clients_.below(3));
      at(clients_.millis(0, 20'000),
         [this, subject, n] { publish(go_kind, subject, "event-" + std::to_string(n)); });
    }
  }
  if (options_.faults.cancel) {
    for (auto n = clients_.between(1, 3); n > 0; --n) {
      const auto when = clients_.millis(0, 15'000);
      if (clients_.chance(50)) {
        at(when, [this] { cancel_any(); });
      } else {
        const auto id = history_.programs[clients_.below(history_.programs.size())].id;
        at(when, [this, id] {
          fault("cancel");
          history_.stops.insert(id);
          publish(stop_kind, id, "stop-" + id);
        });
      }
    }
  }
}

void simulation::request(std::size_t index) {
  const auto& p = history_.programs[index];
  if (history_.accepted.contains(p.id)) return;
  at(elapsed() + patience, [this, index] { request(index); });
  if (!world_.is_up()) return;
  run_request r;
  r.workflow = p.flow;
  r.input = json::encode(p);
  r.idempotency_key = p.id;
  world_.ask_with<runs_accepted>(
    world_.core().event_log, request_runs{{std::move(r)}},
    [this, id = p.id](const result<runs_accepted>& answer) {
      if (!answer) return;
      const auto run = answer->runs.front().run;
      const auto [known, fresh] = history_.accepted.emplace(id, run);
      if (!fresh && known->second != run)
        found_.report("I2", "one idempotency key, two runs of program " + id);
      if (!world_.disk->runs.contains(run))
        found_.report("I1", "program " + id + " was accepted and is not in the store");
    });
}

void simulation::publish(const std::string& kind, const std::string& subject,
                         const std::string& key) {
  if (history_.events.contains(key)) return;
  published_.insert(key);
  at(elapsed() + patience, [this, kind, subject, key] { publish(kind, subject, key); });
  if (!world_.is_up()) return;
  event e;
  e.kind = kind;
  e.subject = subject;
  e.key = key;
  e.data = json::quoted(key);
  world_.ask_with<event_published>(
    world_.core().event_log, publish_event{std::move(e)},
    [this, key](const result<event_published>& answer) {
      if (!answer) return;
      history_.events.insert(key);
      found_.expect(journal_.events_with_key("event/" + key) == 1, "P5",
                    "event " + key + " was acknowledged and is not in the log exactly once");
    });
}

void simulation::cancel_any() {
  if (!world_.is_up() || history_.accepted.empty()) return;
  auto chosen = history_.accepted.begin();
  std::advance(chosen, clients_.below(history_.accepted.size()));
  fault("cancel");
  cancel(chosen->second);
}

void simulation::cancel(const run_id& run) {
  note("cancel " + to_string(run));
  history_.cancels.insert(run);
  world_.ask_with<run_stopped>(world_.core().admission, cancel_run{run, "asked to"},
                               [this, run](const result<run_stopped>& answer) {
                                 if (answer) outside_.cancel_acknowledged(run);
                               });
}

} // namespace sluice::simulation
