#include "actors/rate_limiter.hpp"

#include "base/json.hpp"
#include "base/log.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

namespace {

constexpr duration load_retry{1000};
/// How often what changed is written though nobody asks, and how long unused units are kept.
constexpr duration upkeep{5000};
/// A reservation is a hundredth of the limit: what a crash can cost, and what a commit can carry.
constexpr std::uint32_t chunk_max = 100;

} // namespace

void rate_limiter_state::load() {
  self->request(parts.reader, caf::infinite, load_table{table::limit, row_key(), {}, 1})
    .then(
      [this](const table_page& page) {
        if (!page.rows.empty() && page.rows.front().key == row_key()) {
          if (auto stored = json::decode<window>(page.rows.front().value)) {
            budget = restored(std::move(*stored), config, now());
          } else {
            // Nothing is known of what was used: as if it were all of it.
            log::warning("the row of a rate limit cannot be read; it starts empty",
                         {{"service", whose.service}, {"installation", whose.installation}});
            budget = sluice::finish({}, config.limit, config, now());
          }
        }
        loaded = true;
        for (const auto& r : std::exchange(early, {}))
          take_in(r);
        pump();
      },
      [this](const caf::error& e) {
        log::error("loading a rate limit failed, trying again",
                   {{"installation", whose.installation}, {"error", to_text(e)}});
        arm_tick(self, parts.clock, tick_at, now() + load_retry);
      });
}

std::uint32_t rate_limiter_state::cost_of(const acquire_pass& order) const {
  return std::min(std::max(order.what.cost, 1u), std::max(allowed(budget, config), 1u));
}

std::uint32_t rate_limiter_state::chunk() const {
  return std::clamp(allowed(budget, config) / 100, 1u, chunk_max);
}

void rate_limiter_state::acquire(acquire_pass& order) {
  asked_at = now();
  if (held.size() >= parts.config->held_max)
    return turn_back(self, order,
                     wait_answer(asked_at + parts.config->hold, "rate limit: " + whose.bucket),
                     {order.circuit});
  held.push_back({std::move(order), asked_at + parts.config->hold});
  pump();
}

/// Gives out what is reserved, reserves more, and answers those that would wait too long.
void rate_limiter_state::pump() {
  timestamp next{};
  if (loaded) {
    if (budget.blocked_until <= now()) give();
    next = fill_up();
  }
  answer_late(next);
  arm_timers();
}

void rate_limiter_state::give() {
  while (!held.empty()) {
    const auto cost = cost_of(held.front().order);
    if (unused < cost) return;
    auto order = std::move(held.front().order);
    held.pop_front();
    unused -= cost;
    flights[order.permit] = {cost, now()};
    pass_on(self, order, order.refresher);
  }
}

/// When those that are held can go on, if that is known; `never`: soon.
timestamp rate_limiter_state::fill_up() {
  const auto time = now();
  if (budget.blocked_until > time) return budget.blocked_until;
  if (saving != 0) return never;
  std::uint64_t wanted = 0;
  for (const auto& h : held)
    wanted += cost_of(h.order);
  // Ahead of the next question while questions come, so that few of them wait for a commit.
  const bool busy = asked_at + duration{1000} > time;
  if (held.empty() && (!busy || unused > chunk() / 2)) return never;
  const auto least = held.empty() ? 1u : cost_of(held.front().order) - unused;
  const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, 1'000'000));
  auto answer = reserve(budget, least, std::max(most, chunk()), config, time);
  budget = std::move(answer.next);
  if (answer.granted == 0) return held.empty() ? timestamp{never} : answer.at;
  reserving = answer.granted;
  save();
  return never;
}

void rate_limiter_state::answer_late(timestamp next) {
  const auto time = now();
  std::deque<held_pass> rest;
  for (auto& h : held) {
    if (next <= h.deadline && time < h.deadline)
      rest.push_back(std::move(h));
    else
      turn_back(
        self, h.order,
        wait_answer(std::max(next, time + parts.config->hold), "rate limit: " + whose.bucket),
        {h.order.circuit});
  }
  held = std::move(rest);
  // The tick at which those that were kept can go on.
  if (!held.empty()) arm_tick(self, parts.clock, tick_at, next);
}

void rate_limiter_state::save() {
  dirty = urgent = false;
  saving = ++last_token;
  append order{caf::actor_cast<commit_sink>(self), saving, {}};
  order.ops.push_back(put_row{table::limit, row_key(), json::encode(budget)});
  self->send(parts.journal, std::move(order));
}

void rate_limiter_state::saved(const appended& done) {
  if (std::find(done.ids.begin(), done.ids.end(), saving) == done.ids.end()) return;
  saving = 0;
  unused += std::exchange(reserving, 0);
  if (urgent) save();
  pump();
}

void rate_limiter_state::finish(const request_finished& r) {
  if (!loaded) {
    if (early.size() < parts.config->held_max) early.push_back(r);
    return;
  }
  take_in(r);
  pump();
}

void rate_limiter_state::take_in(const request_finished& r) {
  const auto time = now();
  if (auto known = flights.extract(r.permit); !known.empty()) {
    const auto cost = known.mapped().cost;
    if (r.outcome == pass_outcome::not_sent)
      unused += cost;
    else
      budget = sluice::finish(std::move(budget), cost, config, time);
    dirty = true;
  }
  if (r.outcome == pass_outcome::not_sent) return;
  const auto blocked = budget.blocked_until;
  budget = report(std::move(budget), r.rate, r.outcome, config, time);
  if (budget.blocked_until == blocked) return;
  log::info("a rate limit waits for the provider", {{"service", whose.service},
                                                    {"installation", whose.installation},
                                                    {"bucket", whose.bucket},
                                                    {"until", to_rfc3339(budget.blocked_until)}});
  dirty = urgent = true;
  if (saving == 0) save();
}

void rate_limiter_state::tick() {
  tick_at = never;
  if (!loaded) {
    load();
    return pump();
  }
  const auto time = now();
  std::vector<std::uint64_t> lost;
  for (const auto& [permit, f] : flights)
    if (f.since + parts.config->permit_lifetime <= time) lost.push_back(permit);
  for (auto permit : lost) {
    budget = sluice::finish(std::move(budget), flights.at(permit).cost, config, time);
    flights.erase(permit);
    dirty = true;
  }
  if (held.empty() && unused != 0 && asked_at + upkeep <= time) {
    budget = give_back(std::move(budget), std::exchange(unused, 0));
    dirty = true;
  }
  if (dirty && saving == 0) save();
  pump();
}

void rate_limiter_state::arm_timers() {
  if (!held.empty()) arm_tick(self, parts.clock, tick_at, held.front().deadline);
  if (dirty || unused != 0 || !flights.empty())
    arm_tick(self, parts.clock, tick_at, now() + upkeep);
}

rate_limiter_actor::behavior_type
rate_limiter(rate_limiter_actor::stateful_pointer<rate_limiter_state> self, gate_parts parts,
             pass_request whose) {
  auto& s = self->state;
  const auto own = parts.config->rates.find(whose.service);
  s.config = own == parts.config->rates.end() ? parts.config->rate : own->second;
  s.parts = std::move(parts);
  s.whose = std::move(whose);
  s.load();
  return {
    [self](inspect_atom) {
      const auto& st = self->state;
      std::uint64_t used = st.flights.size();
      for (const auto n : st.budget.counts)
        used += n;
      auto text = std::to_string(used) + " of " + std::to_string(allowed(st.budget, st.config));
      std::string waits;
      if (!st.loaded) waits = "its row";
      if (st.budget.blocked_until > st.now())
        waits = "the provider until " + to_rfc3339(st.budget.blocked_until);
      auto card = card_of(self, std::move(text), std::move(waits));
      card.label = st.whose.service + " " + st.whose.installation + " " + st.whose.bucket;
      return card;
    },
    counted(self, [self](acquire_pass& order) { self->state.acquire(order); }),
    counted(self, [self](const request_finished& r) { self->state.finish(r); }),
    counted(self, [self](const appended& done) { self->state.saved(done); }),
    counted(self, [self](tick_atom) { self->state.tick(); }),
  };
}

} // namespace sluice
