#include "app/backfill_commands.hpp"
#include "app/bench_command.hpp"
#include "app/client_commands.hpp"
#include "app/exit_code.hpp"
#include "app/journal_command.hpp"
#include "app/node_command.hpp"
#include "app/output.hpp"
#include "app/sandbox_command.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace sluice {

namespace {

using action = std::function<exit_code()>;

/// One subcommand: `declare` adds its flags and gives back what runs it.
struct command {
  const char* name;
  const char* about;
  const char* examples;
  action (*declare)(CLI::App&);
};

action declare_node(CLI::App& app) {
  auto o = std::make_shared<node_options>();
  app.add_option("--config", o->config, "TOML file; config/sluice.toml has every setting")
    ->type_name("FILE");
  app.add_option("--listen", o->listen, "address of the API; port 0 takes a free one")
    ->type_name("HOST:PORT");
  app.add_option("--data", o->data, "folder of the journal")->type_name("DIR");
  app.add_option("--port-file", o->port_file, "gets the port once the node is ready")
    ->type_name("FILE");
  return [o]() -> exit_code { run_node(*o); };
}

void add_url(CLI::App& app, client_options& o) {
  app.add_option("--url", o.url, "the node to ask; else SLUICE_URL, else http://127.0.0.1:8090")
    ->type_name("URL");
  app.add_flag("--json", o.json, "the node's own JSON, for scripts");
}

action declare_start(CLI::App& app) {
  auto o = std::make_shared<start_options>();
  app.add_option("workflow", o->workflow, "name in the catalog")->required();
  app.add_option("--input", o->input, "JSON, @file, or - for standard input")->type_name("JSON");
  app.add_option("--key", o->key, "idempotency key: the same key starts one run only");
  app.add_flag("--follow", o->follow, "print steps until the run has ended");
  add_url(app, o->node);
  return [o] { return start_command(*o); };
}

action declare_trigger(CLI::App& app) {
  auto o = std::make_shared<trigger_options>();
  app.add_option("--installation", o->installation, "whose history")->type_name("ID")->required();
  app.add_option("--provider", o->provider, "github or vercel")->type_name("NAME")->required();
  app.add_option("--org", o->org, "the account that it belongs to")->type_name("ID")->required();
  app.add_option("--depth", o->depth, "days back: 7, 30 (default) or 90")->type_name("DAYS");
  app.add_option("--entity", o->entities, "only these types; else all that the provider has")
    ->type_name("TYPE");
  app
    .add_option("--on-conflict", o->on_conflict,
                "when one is under way: queue (default), reject, or merge")
    ->type_name("POLICY");
  app.add_option("--key", o->key, "idempotency key: the same key starts one run only");
  app.add_flag("--follow", o->follow, "show the units until the end; 0 only if all succeeded");
  add_url(app, o->node);
  return [o] { return trigger_command(*o); };
}

action declare_retry(CLI::App& app) {
  auto o = std::make_shared<retry_options>();
  app.add_option("run", o->run, "id of the backfill")->required();
  app.add_option("unit", o->unit, "as `sluice run ID` shows it: RESOURCE~TYPE")->required();
  app.add_flag("--follow", o->follow, "show it until the end; 0 only if it succeeded");
  add_url(app, o->node);
  return [o] { return retry_command(*o); };
}

action declare_cancel(CLI::App& app) {
  auto o = std::make_shared<cancel_options>();
  app.add_option("run", o->run, "id of the run");
  app.add_option("--installation", o->installation, "instead: all backfills of it")
    ->type_name("ID");
  add_url(app, o->node);
  return [o] { return cancel_command(*o); };
}

action declare_runs(CLI::App& app) {
  auto o = std::make_shared<list_options>();
  app.add_option("--status", o->status, "only runs with this status");
  app.add_option("--workflow", o->workflow, "only runs of this workflow");
  app.add_option("--installation", o->installation, "only runs of this installation")
    ->type_name("ID");
  app.add_option("--limit", o->limit, "how many")->check(CLI::Range(1, 500));
  add_url(app, o->node);
  return [o] { return runs_command(*o); };
}

template <exit_code (*Command)(const run_options&)>
action declare_run(CLI::App& app) {
  auto o = std::make_shared<run_options>();
  app.add_option("run", o->run, "id of the run")->required();
  add_url(app, o->node);
  return [o] { return Command(*o); };
}

action declare_event(CLI::App& app) {
  auto o = std::make_shared<event_options>();
  app.add_option("kind", o->kind, "such as order.approved")->required();
  app.add_option("subject", o->subject, "what it is about")->required();
  app.add_option("--data", o->data, "JSON, @file, or - for standard input")->type_name("JSON");
  app.add_option("--key", o->key, "idempotency key: told again it changes nothing");
  add_url(app, o->node);
  return [o] { return event_command(*o); };
}

template <exit_code (*Command)(const client_options&)>
action declare_plain(CLI::App& app) {
  auto o = std::make_shared<client_options>();
  add_url(app, *o);
  return [o] { return Command(*o); };
}

template <exit_code (*Command)(const journal_options&)>
action declare_journal(CLI::App& app) {
  auto o = std::make_shared<journal_options>();
  if (Command == journal_dump_command)
    app.add_option("--run", o->run, "only what belongs to this run")->type_name("ID");
  else
    app.add_flag("--json", o->json, "JSON, for scripts");
  app.add_option("--data", o->data, "folder of the journal")->type_name("DIR");
  app.add_option("--config", o->config, "the node's config, for its folder")->type_name("FILE");
  return [o] { return Command(*o); };
}

/// What all benches share.
template <class Options>
struct bench_flags : Options {
  bool json = false;
};

template <class Options>
std::shared_ptr<bench_flags<Options>> bench_options(CLI::App& app) {
  auto o = std::make_shared<bench_flags<Options>>();
  app.add_flag("--json", o->json, "one line of JSON, for scripts");
  app.add_option("--data", o->data_dir, "where the folder of the measurement is made")
    ->type_name("DIR");
  return o;
}

action declare_bench_journal(CLI::App& app) {
  auto o = bench_options<bench::journal_options>(app);
  app.add_option("--producers", o->producers, "records per commit, a case each");
  app.add_option("--rounds", o->rounds, "turns of journal and bare log; medians count");
  return [o] { return bench_command(*o, o->json); };
}

action declare_bench_steps(CLI::App& app) {
  auto o = bench_options<bench::steps_options>(app);
  app.add_option("--runs", o->runs, "how many");
  app.add_option("--steps", o->steps, "of each run");
  app.add_option("--hosts", o->hosts, "actors that drive runs");
  app.add_option("--rounds", o->rounds, "turns of engine and store; medians count");
  return [o] { return bench_command(*o, o->json); };
}

action declare_bench_resume(CLI::App& app) {
  auto o = bench_options<bench::resume_options>(app);
  app.add_option("--runs", o->runs, "how many");
  app.add_option("--steps", o->steps, "of each run");
  app.add_option("--group", o->group, "so many steps of a run at once");
  return [o] { return bench_command(*o, o->json); };
}

action declare_bench_memory(CLI::App& app) {
  auto o = bench_options<bench::memory_options>(app);
  app.add_option("--runs", o->runs, "how many");
  return [o] { return bench_command(*o, o->json); };
}

action declare_bench_kill(CLI::App& app) {
  auto o = bench_options<bench::kill_options>(app);
  app.add_option("--rounds", o->rounds, "how often the node is killed");
  app.add_option("--seed", o->seed, "of the times at which it is killed");
  return [o] { return bench_command(*o, o->json); };
}

action declare_bench_backfill(CLI::App& app) {
  auto o = bench_options<bench::backfill_options>(app);
  app.add_option("--tenants", o->tenants, "installations");
  app.add_option("--units", o->units, "of each: 30 of one tenant, else 1");
  app.add_option("--pages", o->pages, "of each unit, 100 events each");
  app.add_option("--rounds", o->rounds, "turns of node and bare loop; medians count");
  return [o] { return bench_command(*o, o->json); };
}

/// A duration that is given as a whole number of `unit`.
template <class Unit>
CLI::Option* add_time(CLI::App& app, const char* name, duration& to, const char* about) {
  auto set = [&to](std::uint32_t n) { to = Unit{n}; };
  return app.add_option_function<std::uint32_t>(name, set, about)
    ->type_name(std::is_same_v<Unit, std::chrono::seconds> ? "SECONDS" : "MS");
}

void declare_sandbox_faults(CLI::App& app, sandbox::fault_options& f) {
  auto share = [&](const char* name, double& to, const char* about) {
    app.add_option(name, to, about)
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("SHARE")
      ->group("Faults");
  };
  auto count = [&](const char* name, auto& to, const char* about) {
    app.add_option(name, to, about)->type_name("N")->group("Faults");
  };
  share("--provider-5xx", f.provider_errors, "providers answer 500, 502 or 503");
  share("--truncated", f.truncated, "pages end in the middle");
  share("--html", f.html, "pages are HTML, with status 200");
  share("--secondary", f.secondary, "secondary limits: 403 or 429, with or without Retry-After");
  add_time<std::chrono::milliseconds>(app, "--provider-latency-ms", f.provider_latency,
                                      "before each answer of a provider")
    ->group("Faults");
  count("--shift", f.shift_every, "after every N pages of a list an item is updated or added");
  share("--gateway-5xx", f.gateway_errors, "the gateway answers 500, 502 or 503");
  share("--gateway-429", f.gateway_busy, "the gateway is busy, with or without Retry-After");
  share("--lost-answers", f.lost_answers, "events are taken, then the connection is closed");
  add_time<std::chrono::milliseconds>(app, "--gateway-latency-ms", f.gateway_latency,
                                      "before each answer of the gateway")
    ->group("Faults");
  count("--gateway-down-after", f.down_after, "after N accepted events the gateway is down …");
  add_time<std::chrono::seconds>(app, "--gateway-down-s", f.down_for, "… for so long: 503")
    ->group("Faults");
  count("--poison", f.poison_every, "one of N delivery ids is never taken: 400");
}

action declare_sandbox(CLI::App& app) {
  auto o = std::make_shared<sandbox_options>();
  auto& s = o->shown;
  app.add_option("--listen", o->listen, "a loopback address, or a port alone; 0 takes a free one")
    ->type_name("HOST:PORT")
    ->capture_default_str();
  app.add_option("--port-file", o->port_file, "gets the port once it serves")->type_name("FILE");
  app.add_option("--threads", o->threads, "that serve")->check(CLI::Range(1, 64));
  app.add_option("--api-key", s.api_key, "of the gateway")->capture_default_str();
  app.add_option("--seed", s.seed, "of all data and faults")->capture_default_str();
  auto count = [&](const char* name, std::uint32_t& to, std::uint32_t most, const char* about) {
    app.add_option(name, to, about)
      ->check(CLI::Range(0U, most))
      ->type_name("N")
      ->capture_default_str()
      ->group("Data");
  };
  count("--tenants", s.tenants, 1'000'000, "GitHub connections: conn-1 …");
  count("--repos", s.repos, 99'999, "of each of them");
  count("--pulls", s.pulls, 500'000, "pull requests of each repository");
  count("--issues", s.issues, 500'000, "issues of each repository");
  count("--releases", s.releases, 99'999, "releases of each repository; every tenth is a draft");
  count("--big-tenant", s.big_tenant, 99'999, "repositories of one more connection, big");
  count("--vercel-tenants", s.vercel_tenants, 1'000'000, "Vercel connections: vconn-1 …");
  count("--projects", s.projects, 99'999, "of each of them");
  count("--deployments", s.deployments, 1'000'000, "of each project");
  count("--days", s.days, 3650, "over which they are spread, before now");
  count("--renamed", s.renamed_every, 99'999, "every Nth repository answers 301 under its name");
  app.add_option("--disabled-types", s.disabled_types, "disabledEventTypes of all connections")
    ->delimiter(',')
    ->type_name("A,B");
  app.add_option("--scopes", s.scopes, "scopes of all connections; none: not mentioned")
    ->delimiter(',')
    ->type_name("A,B");
  app.add_option("--rate-limit", s.rate_limit, "requests of a connection in a window")
    ->capture_default_str();
  add_time<std::chrono::seconds>(app, "--rate-window-s", s.rate_window, "its length [3600]");
  add_time<std::chrono::seconds>(app, "--token-ttl-s", s.token_ttl, "life of a token [3600]");
  app.add_flag("--dedupe", s.dedupe, "the gateway answers 409 to an event that it has");
  app
    .add_option_function<std::uint32_t>(
      "--cache-mb", [&s](std::uint32_t mb) { s.cache_bytes = std::size_t{mb} << 20; },
      "for pages that were served [64]")
    ->type_name("MB");
  declare_sandbox_faults(app, s.faults);
  return [o]() -> exit_code { run_sandbox(*o); };
}

action declare_version(CLI::App&) {
  return [] {
    print_line("sluice " SLUICE_VERSION);
    return exit_code::done;
  };
}

constexpr std::array commands{
  command{"node", "Run a node until SIGTERM or SIGINT",
          "  sluice node\n"
          "  sluice node --data journal --listen 127.0.0.1:9000\n"
          "  SLUICE_LOG_LEVEL=debug sluice node --config sluice.toml",
          declare_node},
  command{"trigger", "Backfill an installation's history",
          "  sluice trigger --installation 42 --provider github --org acme --follow\n"
          "  sluice trigger --installation 42 --provider github --org acme --depth 90 \\\n"
          "    --entity issue --entity release --on-conflict merge",
          declare_trigger},
  command{"retry", "Run one unit of an ended backfill again, from where it stood",
          "  sluice retry 019e2a4c-71d0-7000-8000-2ecac80f2304 1296269~issue --follow",
          declare_retry},
  command{"start", "Start a run",
          "  sluice start example.counter --input '{\"steps\":5}' --follow\n"
          "  sluice start example.order --input @order.json --key order-17",
          declare_start},
  command{"runs", "List runs, newest first",
          "  sluice runs --status running\n"
          "  sluice runs --installation 42\n"
          "  sluice runs --workflow example.order --limit 10 --json",
          declare_runs},
  command{"run", "Show a run: its row, its units, what it waits for, its steps",
          "  sluice run 019e2a4c-71d0-7000-8000-2ecac80f2304", declare_run<run_command>},
  command{"cancel", "Cancel a run, or all backfills of an installation",
          "  sluice cancel 019e2a4c-71d0-7000-8000-2ecac80f2304\n"
          "  sluice cancel --installation 42",
          declare_cancel},
  command{"resume", "Let a parked run go on",
          "  sluice resume 019e2a4c-71d0-7000-8000-2ecac80f2304", declare_run<resume_command>},
  command{"event", "Tell an event, which runs may wait for",
          "  sluice event order.approved A-17\n"
          "  sluice event order.approved A-17 --data '{\"by\":\"kim\"}' --key approval-17",
          declare_event},
  command{"actors", "Show the actors of a node and what they do", "  sluice actors",
          declare_plain<actors_command>},
  command{"sandbox", "A believable GitHub, Vercel and gateway on loopback, with a ledger",
          "  sluice sandbox --tenants 3 --provider-5xx 0.02 --gateway-5xx 0.01\n"
          "  sluice sandbox --listen 0 --port-file port --tenants 30 --repos 1 --pulls 2000\n"
          "  curl http://127.0.0.1:8095/ledger",
          declare_sandbox},
  command{"workflows", "List what this build can start", "  sluice workflows",
          declare_plain<workflows_command>},
  command{"version", "Print the version", "  sluice version", declare_version},
};

constexpr std::array bench_commands{
  command{"journal", "The journal against a bare log", "  sluice bench journal --producers 1 1000",
          declare_bench_journal},
  command{"steps", "Durable steps per second through the real actors",
          "  sluice bench steps --runs 1000 --rounds 1", declare_bench_steps},
  command{"resume", "Killed with so many runs under way: when all are live again",
          "  sluice bench resume --runs 10000", declare_bench_resume},
  command{"memory", "What a waiting run costs", "  sluice bench memory --runs 100000",
          declare_bench_memory},
  command{"kill", "A loaded node killed again and again: is anything lost?",
          "  sluice bench kill --rounds 20", declare_bench_kill},
  command{"backfill", "A whole backfill against a bare curl loop, on one sandbox",
          "  sluice bench backfill\n  sluice bench backfill --tenants 1000 --pages 1",
          declare_bench_backfill},
};

constexpr std::array journal_commands{
  command{"stats", "How much is in it", "  sluice journal stats --data data",
          declare_journal<journal_stats_command>},
  command{"verify", "Check every record, and that all of them agree",
          "  sluice journal verify --data data", declare_journal<journal_verify_command>},
  command{"dump", "Print every record, one line of JSON each",
          "  sluice journal dump --data data --run 019e2a4c-71d0-7000-8000-2ecac80f2304",
          declare_journal<journal_dump_command>},
};

/// Adds every command of `table` to `app`; the one that is named on the command line is put into
/// `chosen`.
void add_all(CLI::App& app, std::span<const command> table, action& chosen) {
  app.require_subcommand(1);
  for (const auto& c : table) {
    auto* sub = app.add_subcommand(c.name, c.about);
    sub->footer(std::string{"Examples:\n"} + c.examples);
    sub->callback([&chosen, act = c.declare(*sub)] { chosen = act; });
  }
}

int run(int argc, char** argv) {
  CLI::App app{"sluice: durable backfills in one binary", "sluice"};
  app.set_version_flag("--version", "sluice " SLUICE_VERSION);
  action chosen;
  add_all(app, commands, chosen);
  add_all(*app.add_subcommand("journal", "Look into a data folder, also beside a live node"),
          journal_commands, chosen);
  add_all(*app.add_subcommand("bench", "Measure this machine"), bench_commands, chosen);
  app.footer("Exit codes: 0 done, 1 the work failed, 2 wrong usage or config, 3 the node cannot "
             "start.\n`sluice COMMAND --help` has examples.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    // CLI11 misses the subcommand before it looks at what stands there instead.
    const auto unknown = app.remaining(true);
    const bool named = dynamic_cast<const CLI::RequiredError*>(&e) != nullptr && !unknown.empty();
    complain((named ? "no command is called \"" + unknown.front() + "\"" : std::string{e.what()})
             + " (see sluice --help)");
    return static_cast<int>(exit_code::wrong_usage);
  }
  return static_cast<int>(chosen());
}

} // namespace

} // namespace sluice

int main(int argc, char** argv) {
  return sluice::run(argc, argv);
}
