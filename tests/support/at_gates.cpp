#include "tests/support/at_gates.hpp"

#include <caf/send.hpp>

#include <algorithm>

namespace sluice {

gate_client::gate_client(world& w) : world_{w} {
  actor_ = w.system().spawn([this](caf::event_based_actor*) -> caf::behavior {
    return {
      [this](const pass_answered& a) {
        order.push_back(a.id);
        answers_[a.id] = a;
      },
      [this](const circuit_changed& c) { changes.push_back(c); },
    };
  });
  w.settle();
}

gate_client::~gate_client() {
  caf::anon_send_exit(actor_, caf::exit_reason::kill);
  world_.settle();
}

token gate_client::ask(const pass_request& what) {
  acquire_pass question;
  question.from = caf::actor_cast<pass_sink>(actor_);
  question.id = ++last_;
  question.what = what;
  world_.tell(world_.core().gatekeeper, std::move(question));
  return last_;
}

std::optional<pass_answered> gate_client::ask_now(const pass_request& what) {
  const auto id = ask(what);
  world_.settle();
  // The virtual network needs some milliseconds, which is no hold.
  world_.pass_time(duration{50});
  return answer(id);
}

std::optional<pass_answered> gate_client::answer(token id) const {
  auto known = answers_.find(id);
  if (known == answers_.end()) return {};
  return known->second;
}

void gate_client::finish(const pass_request& what, std::uint64_t permit, pass_outcome outcome,
                         rate_report rate) {
  world_.tell(world_.core().gatekeeper, finished(what, permit, outcome, rate));
  world_.settle();
}

void gate_client::finish_many(const std::string& service, pass_outcome outcome,
                              std::uint32_t count) {
  request_finished r;
  r.service = service;
  r.outcome = outcome;
  r.count = count;
  world_.tell(world_.core().gatekeeper, std::move(r));
  world_.settle();
}

void gate_client::watch(const std::string& service) {
  world_.tell(world_.core().gatekeeper,
              watch_circuit{caf::actor_cast<circuit_sink>(actor_), service});
  world_.settle();
}

gate_fleet::gate_fleet(world& w, std::uint32_t workers, pass_request what, duration takes)
  : world_{w}, workers_{workers}, what_{std::move(what)}, takes_{takes} {
  actor_ = w.system().spawn([this](caf::event_based_actor* self) { return behave(self); });
  restart();
}

gate_fleet::~gate_fleet() {
  caf::anon_send_exit(actor_, caf::exit_reason::kill);
  world_.settle();
}

void gate_fleet::restart() {
  ++life_;
  for (std::uint32_t i = 0; i < workers_; ++i)
    caf::anon_send(actor_, retry_atom_v, life_);
}

caf::behavior gate_fleet::behave(caf::event_based_actor* self) {
  return {
    [this, self](retry_atom, std::uint64_t life) {
      if (life != life_ || !world_.is_up()) return;
      acquire_pass order;
      order.from = caf::actor_cast<pass_sink>(self);
      order.id = life;
      order.what = what_;
      self->send(world_.core().gatekeeper, std::move(order));
    },
    [this, self](const pass_answered& a) {
      if (a.id != life_ || !world_.is_up()) return;
      if (a.granted) {
        // It reaches the provider at the last moment.
        self->delayed_send(self, takes_, tick_atom_v, a.id, a.granted->permit);
      } else if (a.failed) {
        ++failures;
      } else {
        ++waits;
        self->delayed_send(self, a.wait_until - world_.now(), retry_atom_v, a.id);
      }
    },
    [this, self](tick_atom, std::uint64_t life, std::uint64_t permit) {
      // What was under way when the node died still reached the provider.
      sent.push_back(world_.now());
      if (life != life_ || !world_.is_up()) return;
      self->send(world_.core().gatekeeper, finished(what_, permit, pass_outcome::success, rate));
      self->send(self, retry_atom_v, life);
    },
  };
}

std::uint32_t densest_window(std::vector<timestamp> log, duration length) {
  std::sort(log.begin(), log.end());
  std::uint32_t most = 0;
  std::size_t first = 0;
  for (std::size_t last = 0; last < log.size(); ++last) {
    while (log[last] - log[first] >= length)
      ++first;
    most = std::max(most, static_cast<std::uint32_t>(last - first + 1));
  }
  return most;
}

http_response plain_response(int status, std::string body) {
  http_response r;
  r.status = status;
  r.body = std::move(body);
  return r;
}

} // namespace sluice
