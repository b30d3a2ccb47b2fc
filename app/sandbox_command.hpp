#pragma once

#include "sandbox/options.hpp"

#include <string>

namespace sluice {

/// What `sluice sandbox` is told on the command line.
struct sandbox_options {
  std::string listen = "127.0.0.1:8095"; ///< or a port alone
  std::string port_file;                 ///< gets the port once it serves; empty: none is written
  unsigned threads = 1;
  sandbox::options shown;
};

/// Serves until SIGTERM or SIGINT, then prints the ledger's summary. Ends the process itself.
[[noreturn]] void run_sandbox(const sandbox_options& options);

} // namespace sluice
