#pragma once

#include <optional>
#include <string>

namespace sluice {

/// What `sluice node` is told on the command line.
struct node_options {
  std::optional<std::string> config;
  std::optional<std::string> listen;
  std::optional<std::string> data;
  std::string port_file; ///< gets the port once the node is ready; empty: none is written
};

/// Runs a node until SIGTERM or SIGINT. Ends the process itself: CAF would wait for every timer
/// (guides/caf-0.17.md, rule 10). A node that cannot start says so in a line on standard error and
/// has changed nothing: the port comes first, then the folder is looked at, then it is written.
[[noreturn]] void run_node(const node_options& options);

/// The variable of that name in our environment.
[[nodiscard]] std::optional<std::string> environment_variable(const std::string& name);

} // namespace sluice
