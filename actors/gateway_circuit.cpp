#include "actors/gateway.hpp"

#include <utility>

/// The gateway's circuit, and what the pages are told while they wait for it.
namespace sluice {

namespace {

/// 4xx is an answer of a service that is well; a key that it does not know is its trouble.
pass_outcome outcome_of(delivery_verdict verdict, const http_response& answer) {
  if (verdict == delivery_verdict::limited) return pass_outcome::limited;
  const bool ill = !answer.error.empty() || answer.status < 200 || answer.status >= 500;
  return ill || verdict == delivery_verdict::unauthorized ? pass_outcome::failure
                                                          : pass_outcome::success;
}

request_finished outcome_told(std::uint64_t permit, pass_outcome outcome) {
  pass_request what;
  what.service = gateway_service;
  return finished(what, permit, outcome);
}

/// The end of the year 9999: until somebody changes the settings.
constexpr timestamp no_end = from_millis(253'402'300'799'999);

} // namespace

bool gateway_state::is_closed() const {
  return circuit && circuit->status == circuit_status::closed;
}

/// What an answer says about the gateway.
void gateway_state::report(const flight& f, delivery_verdict verdict, const http_response& response,
                           timestamp time) {
  const auto what = outcome_of(verdict, response);
  if (f.permit != 0) {
    probe.under_way = false;
    self->send(core.gatekeeper, outcome_told(f.permit, what));
  } else {
    if (what != outcome) report_outcomes();
    outcome = what;
    ++outcomes;
  }
  if (verdict == delivery_verdict::accepted || verdict == delivery_verdict::refused) {
    speed.succeeded(f.round, response.elapsed, time);
    fault.clear();
    return;
  }
  speed.failed(f.round);
  if (verdict == delivery_verdict::unauthorized)
    fault = "the gateway refuses the API key (401)";
  else if (what == pass_outcome::failure)
    fault = response.error.empty() ? "HTTP " + std::to_string(response.status) : response.error;
  if (const auto pause = asked_pause(response, time); pause && time + *pause > paused.until)
    paused = {time + *pause, "the gateway asks to wait (" + std::to_string(response.status) + ")"};
}

void gateway_state::report_outcomes() {
  if (outcomes == 0) return;
  auto told = outcome_told(0, outcome);
  told.count = std::exchange(outcomes, 0);
  outcome = pass_outcome::success;
  self->send(core.gatekeeper, std::move(told));
}

void gateway_state::give_back(std::uint64_t permit) {
  probe.under_way = false;
  self->send(core.gatekeeper, outcome_told(permit, pass_outcome::not_sent));
}

void gateway_state::changed(circuit_changed& m) {
  circuit = std::move(m);
  probe.not_before = never;
  carry_on();
}

void gateway_state::ask_probe(timestamp time) {
  if (probe.asked != 0 || probe.under_way || probe.not_before > time || !queue.ready(time)) return;
  acquire_pass ask;
  ask.from = caf::actor_cast<pass_sink>(self);
  ask.id = ++last_token;
  ask.what.service = gateway_service;
  probe.asked = ask.id;
  self->send(core.gatekeeper, std::move(ask));
}

void gateway_state::passed(pass_answered& m) {
  const bool mine = m.id == probe.asked;
  if (mine) probe.asked = 0;
  const auto time = now();
  if (m.granted) {
    const bool may = mine && circuit && circuit->status != circuit_status::open;
    if (const auto next = may ? queue.next_probe(time) : std::nullopt) {
      orders out;
      post(*next, m.granted->permit, std::to_string(to_millis(time)) + "}", out);
      probe.under_way = true;
      hand_out(out);
    } else {
      give_back(m.granted->permit);
    }
  } else if (mine) {
    constexpr duration unsaid{1000};
    probe.not_before = m.wait_until > time ? m.wait_until : time + unsaid;
  }
  carry_on();
}

// -- for people (B31) -------------------------------------------------------------

gateway_state::stall gateway_state::stall_of_all(timestamp time) const {
  if (config.access.url.empty()) return {no_end, "no gateway is configured"};
  if (circuit && circuit->status == circuit_status::open)
    return {circuit->until,
            std::string{"circuit open: "} + gateway_service + (fault.empty() ? "" : ", " + fault)};
  // While the probe is under way they wait as before.
  if (circuit && circuit->status == circuit_status::half_open) return told_all;
  return paused.until > time ? paused : stall{};
}

gateway_state::stall gateway_state::stall_of(const page_delivery& p, const caller& c,
                                             timestamp time) {
  if (p.retries.empty() || p.open != p.retries.size()) return {};
  const auto& [at, index] = *p.retries.begin();
  if (at <= time) return {};
  return {at, "retry " + std::to_string(p.tries[index].sent) + ": " + c.trouble};
}

void gateway_state::tell_stalls(timestamp time) {
  const auto before = std::exchange(told_all, stall_of_all(time));
  const bool calm = before.until == never && told_all.until == never && stalled == 0;
  if (!std::exchange(troubled, false) && calm) return;
  queue.each([&](const page_delivery& p) {
    auto& c = callers.at(p.number);
    auto s = told_all.until != never ? told_all : stall_of(p, c, time);
    if (s == c.told) return;
    stalled += s.until != never ? 1 : 0;
    stalled -= c.told.until != never ? 1 : 0;
    c.told = s;
    self->send(c.from, delivery_stalled{c.id, s.until, std::move(s.reason)});
  });
}

} // namespace sluice
