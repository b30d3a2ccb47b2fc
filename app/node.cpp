#include "app/node.hpp"

#include "actors/admission.hpp"
#include "actors/event_log.hpp"
#include "actors/gatekeeper.hpp"
#include "actors/gateway.hpp"
#include "actors/http_client.hpp"
#include "actors/inspector.hpp"
#include "actors/journal.hpp"
#include "actors/reader.hpp"
#include "actors/retention.hpp"
#include "actors/run_host.hpp"
#include "actors/supervisor.hpp"
#include "actors/timekeeper.hpp"

#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <thread>

namespace sluice {

namespace {

run_limits limits_of(const settings& s) {
  run_limits limits;
  limits.steps_max = s.runs.steps_max;
  limits.result_bytes_max = s.runs.result_bytes_max;
  limits.retry = {s.steps.retries, s.steps.initial, s.steps.factor, s.steps.max};
  return limits;
}

http::curl_options curl_options_of(const settings& s) {
  http::curl_options o;
  // What goes to the gateway comes on top, so that neither waits for the other's connections.
  o.open_max = s.client.connections_max + s.gateway.in_flight;
  o.host_connections_max = s.client.per_host_max + s.gateway.in_flight;
  o.user_agent = s.client.user_agent;
  o.timeout = s.client.timeout;
  o.connect_timeout = s.client.connect_timeout;
  o.body_bytes_max = s.client.body_bytes_max;
  return o;
}

circuit_config circuit_of(const circuit_settings& s) {
  return {s.failure_threshold, s.reset_timeout, s.success_threshold};
}

window_config window_of(const rate_settings& s) {
  return {s.requests, s.window, s.wait_max};
}

gates_config gates_of(const settings& s) {
  gates_config gates;
  gates.circuit = circuit_of(s.circuit);
  for (const auto& [service, own] : s.circuits)
    gates.circuits.emplace(service, circuit_of(own));
  gates.rate = window_of(s.rate);
  for (const auto& [service, own] : s.rates)
    gates.rates.emplace(service, window_of(own));
  gates.gateway = {s.gateway.url, s.gateway.api_key};
  return gates;
}

gateway_config gateway_of(const settings& s) {
  gateway_config c;
  c.access = {s.gateway.url, s.gateway.api_key};
  c.in_flight = s.gateway.in_flight;
  c.page_in_flight = s.gateway.page_in_flight;
  c.ack_group = s.gateway.ack_group;
  c.ack_delay = s.gateway.ack_delay;
  return c;
}

template <class Handle>
void end(const Handle& who) {
  if (who) caf::anon_send_exit(who, caf::exit_reason::kill);
}

} // namespace

caf_config::caf_config(std::uint32_t threads) {
  add_message_types<caf::id_block::sluice>();
  add_error_category(caf::atom("sluice"),
                     [](std::uint8_t code, caf::atom_value, const caf::message& context) {
                       return to_text(caf::error{code, caf::atom("sluice"), caf::message{context}});
                     });
  set("scheduler.max-throughput", std::size_t{50});
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  set("scheduler.max-threads", std::size_t{threads});
}

node::node(node_parts parts)
  : parts_{std::move(parts)}, config_{parts_.config.node.threads}, system_{config_} {
  const auto& s = parts_.config;
  const auto clock = parts_.clock;
  host_config host{parts_.flows, clock, {}, limits_of(s), {}};
  core_.journal = system_.spawn<caf::detached>(
    journal, parts_.disk, parts_.grant, clock, uuid_source{},
    journal_config{s.storage.batch_records_max, s.storage.batch_bytes_max, duration{1000}});
  core_.reader = system_.spawn<caf::detached>(reader, parts_.disk);
  core_.event_log = system_.spawn(event_log, parts_.flows, clock, uuid_source{},
                                  event_log_config{s.runs.input_bytes_max, s.runs.live_max},
                                  parts_.disk->stats().live_runs);
  core_.admission =
    system_.spawn(admission, parts_.flows, clock, host, crash_config{3, s.runs.crashes_max});
  core_.timekeeper = system_.spawn(timekeeper, clock, s.runs.rescan_interval);
  core_.http_client = system_.spawn(http_client, curl_options_of(s));
  core_.inspector = system_.spawn(inspector);
  core_.retention = system_.spawn(
    retention, clock,
    retention_config{s.storage.retention, s.storage.retention_interval, s.storage.retention_slice});
  core_.gatekeeper = system_.spawn(gatekeeper, clock, gates_of(s));
  core_.gateway = system_.spawn(gateway, clock, gateway_of(s));
  for (std::uint32_t i = 0; i < s.node.hosts; ++i) {
    host.label = "host " + std::to_string(i + 1);
    core_.hosts.push_back(system_.spawn(run_host, host));
  }
  supervisor_ = system_.spawn(supervisor, parts_.on_death);
  caf::scoped_actor self{system_};
  self->send(supervisor_, core_);
  self->send(core_.event_log, core_);
  self->send(core_.admission, core_);
  self->send(core_.timekeeper, core_);
  self->send(core_.retention, core_);
  self->send(core_.gatekeeper, core_);
  self->send(core_.gateway, core_);
  self->send(core_.journal, observe_journal{caf::actor_cast<event_observer>(core_.event_log)});
  auto known = [&](const auto& who) { self->send(core_.inspector, know_actor{who}); };
  known(core_.journal);
  known(core_.reader);
  known(core_.event_log);
  known(core_.admission);
  known(core_.timekeeper);
  known(core_.http_client);
  known(core_.inspector);
  known(core_.retention);
  known(core_.gatekeeper);
  known(core_.gateway);
  known(supervisor_);
  for (const auto& h : core_.hosts) {
    self->send(h, core_);
    known(h);
  }
}

node::~node() {
  end(supervisor_);
  end(core_.retention);
  end(core_.timekeeper);
  end(core_.admission);
  for (const auto& h : core_.hosts)
    end(h);
  end(core_.gateway);
  end(core_.gatekeeper);
  end(core_.event_log);
  end(core_.http_client);
  end(core_.inspector);
  // The store goes away after us: these two must be gone before.
  caf::scoped_actor self{system_};
  end(core_.journal);
  end(core_.reader);
  self->wait_for(core_.journal, core_.reader);
}

result<recovered> node::recover() {
  caf::scoped_actor self{system_};
  result<recovered> answer = make_error(errc::internal, "recovery gave no answer");
  self->request(core_.admission, caf::infinite, sluice::recover{parts_.grant.clean})
    .receive([&](recovered& r) { answer = std::move(r); },
             [&](caf::error& e) { answer = std::move(e); });
  return answer;
}

bool node::stop() {
  caf::scoped_actor self{system_};
  bool clean = false;
  const auto patience = parts_.config.node.drain_timeout;
  self->request(supervisor_, patience + std::chrono::seconds{5}, end_node{patience})
    .receive([&](const node_ended& e) { clean = e.drained; }, [](const caf::error&) {});
  return clean;
}

} // namespace sluice
