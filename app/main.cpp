#include "app/exit_code.hpp"
#include "app/node_command.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>

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

constexpr std::array commands{
  command{"node", "Run a node until SIGTERM or SIGINT",
          "  sluice node\n"
          "  sluice node --data /var/lib/sluice --listen 127.0.0.1:9000\n"
          "  SLUICE_LOG_LEVEL=debug sluice node --config sluice.toml",
          declare_node},
};

int run(int argc, char** argv) {
  CLI::App app{"sluice: durable backfills in one binary", "sluice"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "sluice " SLUICE_VERSION);
  action chosen;
  for (const auto& c : commands) {
    auto* sub = app.add_subcommand(c.name, c.about);
    sub->footer(std::string{"Examples:\n"} + c.examples);
    auto act = c.declare(*sub);
    sub->callback([&chosen, act] { chosen = act; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    complain(std::string{e.what()} + " (see sluice --help)");
    return static_cast<int>(exit_code::wrong_usage);
  }
  return static_cast<int>(chosen());
}

} // namespace

} // namespace sluice

int main(int argc, char** argv) {
  return sluice::run(argc, argv);
}
