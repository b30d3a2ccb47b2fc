#include "app/node_command.hpp"

#include "api/api.hpp"
#include "app/exit_code.hpp"
#include "app/front.hpp"
#include "app/node.hpp"
#include "app/process.hpp"
#include "base/log.hpp"
#include "config/listen.hpp"
#include "config/load.hpp"
#include "connectors/catalog.hpp"
#include "http/server.hpp"
#include "storage/lmdb_store.hpp"
#include "workflows/backfill.hpp"
#include "workflows/examples.hpp"

#include <caf/send.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sluice {

namespace {

using namespace std::chrono_literals;

/// For answers that are on their way when everything else has stopped.
constexpr duration last_words = 1s;

[[noreturn]] void leave(exit_code code) {
  log::stop();
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(code));
}

[[noreturn]] void refuse(const error& e, exit_code code) {
  fail(e, code);
  leave(code);
}

settings settings_for(const node_options& o) {
  auto loaded = load_settings({o.config, environment_variable, {o.listen, o.data}});
  if (!loaded) refuse(loaded.error(), exit_code::wrong_usage);
  return std::move(*loaded);
}

http::server_options server_options_of(const settings& s, const listen_address& where,
                                       engine_clock clock) {
  http::server_options o;
  o.host = where.host;
  o.port = where.port;
  o.connections_max = s.server.connections_max;
  o.header_bytes_max = static_cast<std::uint32_t>(s.server.header_bytes_max);
  o.body_bytes_max = s.server.body_bytes_max;
  o.request_timeout = s.server.request_timeout;
  o.write_timeout = s.server.write_timeout;
  o.clock = clock;
  return o;
}

lmdb_options lmdb_options_of(const settings& s) {
  return {s.data, s.storage.map_size, s.storage.reserve, false};
}

std::string url_of(const listen_address& where, std::uint16_t port) {
  const bool v6 = where.host.find(':') != std::string::npos;
  return "http://" + (v6 ? "[" + where.host + "]" : where.host) + ":" + std::to_string(port);
}

api::api_config api_config_of(const connector_catalog& connectors) {
  api::api_config c;
  for (auto& name : connectors.providers())
    c.providers.push_back({name, connectors.find(name)->entities()});
  return c;
}

backfill_config backfill_config_of(const settings& s,
                                   std::shared_ptr<const connector_catalog> connectors) {
  backfill_config c;
  c.gateway_url = s.gateway.url;
  c.api_key = s.gateway.api_key;
  if (!s.github.url.empty()) c.base_urls["github"] = s.github.url;
  if (!s.vercel.url.empty()) c.base_urls["vercel"] = s.vercel.url;
  c.connectors = std::move(connectors);
  c.runs_per_installation = s.backfill.runs_per_installation;
  c.runs_max = s.backfill.runs_max;
  c.units_per_installation = s.backfill.units_per_installation;
  c.units_max = s.backfill.units_max;
  c.unit_start = s.backfill.unit_start;
  c.unit_finish = s.backfill.unit_finish;
  c.pages_max = s.backfill.pages_max;
  c.sent_kept = s.backfill.sent_kept;
  return c;
}

/// An actor of the core died: what it left in memory cannot be trusted, the journal can (F22).
void die(const std::string& why) {
  log::error("an actor of the core died, the process ends; start it again, the journal is safe",
             {{"why", why}});
  leave(exit_code::failed);
}

/// The first start says what it made (J11).
void tell_created(const folder_contents& before, const node_options& o, const settings& s) {
  if (!o.config) log::info("no config file is named: defaults and SLUICE_ variables hold");
  if (!before.exists) log::info("created the data folder", {{"data", s.data}});
  if (!before.data) log::info("created an empty journal", {{"data", s.data}});
  if (is_root()) log::warning("running as root; a user of its own would be safer");
}

} // namespace

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string{value};
}

void run_node(const node_options& options) {
  const auto config = settings_for(options);
  harden_process();
  const auto clock = start_engine_clock();
  stop_signals stop{[] {
    log::warning("told to stop twice: the process ends at once");
    leave(exit_code::failed);
  }};
  log::start({config.log.level, config.log.format, config.log.file});

  const auto where = parse_listen(config.listen);
  if (!where) refuse(where.error(), exit_code::wrong_usage);
  front gate{clock};
  auto server = http::server::start(server_options_of(config, *where, clock),
                                    [&gate](http::request request, http::responder reply) {
                                      gate.take(std::move(request), std::move(reply));
                                    });
  if (!server) refuse(server.error(), exit_code::cannot_start);

  const auto before = look_into(config.data);
  if (!before) refuse(before.error(), exit_code::cannot_start);
  lmdb_store disk{lmdb_options_of(config)};
  const auto grant = disk.open();
  if (!grant) refuse(grant.error(), exit_code::cannot_start);
  log::info("starting", {{"node", config.node.name}, {"version", SLUICE_VERSION}});
  tell_created(*before, options, config);

  catalog flows;
  add_examples(flows, config.example.url);
  const auto connectors = std::make_shared<const connector_catalog>(built_in_connectors());
  add_backfill(flows, backfill_config_of(config, connectors));
  node core{{config, clock, &disk, *grant, &flows, die}};
  auto api =
    core.system().spawn(api::api, clock, uuid_source{}, core.core(), api_config_of(*connectors));
  caf::anon_send(core.core().inspector, know_actor{api});
  const auto recovered = core.recover();
  if (!recovered) refuse(recovered.error(), exit_code::cannot_start);
  gate.open(api::handler_for(api));

  const auto port = (*server)->port();
  if (!options.port_file.empty()) {
    if (auto e = write_file(options.port_file, std::to_string(port) + "\n"))
      refuse(e, exit_code::cannot_start);
  }
  log::info("ready on " + url_of(*where, port), {{"data", config.data},
                                                 {"unfinishedRuns", recovered->runs},
                                                 {"parkedRuns", recovered->parked},
                                                 {"afterCrash", before->data && !grant->clean}});

  const auto signal = stop.wait();
  log::info("told to stop", {{"signal", signal}});
  gate.close();
  (*server)->stop_accepting();
  if (!core.stop())
    log::warning(
      "not everything came to rest in time; what was cut off runs again at the next start");
  (*server)->stop(last_words);
  log::info("stopped");
  leave(exit_code::done);
}

} // namespace sluice
