#include "app/sandbox_command.hpp"

#include "app/exit_code.hpp"
#include "app/output.hpp"
#include "app/process.hpp"
#include "base/clock.hpp"
#include "config/listen.hpp"
#include "http/server.hpp"
#include "sandbox/sandbox.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace sluice {

namespace serving {

constexpr duration last_words{200};
/// More than a client that misbehaves would open, less than a process may.
constexpr std::size_t connections_max = 4096;

[[noreturn]] void leave(exit_code code) {
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(code));
}

std::string with_host(const std::string& listen) {
  const bool port_alone = listen.find_first_not_of("0123456789") == std::string::npos;
  return port_alone ? "127.0.0.1:" + listen : listen;
}

void tell_ready(const sandbox_options& o, const std::string& url) {
  print_line("sandbox ready on " + url);
  print_line("SLUICE_GITHUB_URL=" + url + "/github");
  print_line("SLUICE_VERCEL_URL=" + url + "/vercel");
  print_line("SLUICE_GATEWAY_URL=" + url + "/gateway");
  print_line("SLUICE_GATEWAY_API_KEY=" + o.shown.api_key);
  std::fflush(stdout);
}

} // namespace serving

void run_sandbox(const sandbox_options& o) {
  stop_signals stop{[] { serving::leave(exit_code::failed); }};
  const auto where = parse_listen(serving::with_host(o.listen));
  if (!where) serving::leave(fail(where.error(), exit_code::wrong_usage));
  const auto clock = start_engine_clock();
  sandbox::sandbox shown{o.shown, [clock] { return clock.now(std::chrono::steady_clock::now()); }};

  http::server_options server_options;
  server_options.host = where->host;
  server_options.port = where->port;
  server_options.threads = o.threads;
  server_options.connections_max = serving::connections_max;
  server_options.clock = clock;
  auto server =
    http::server::start(server_options, [&shown](const http::request& r, const http::responder& a) {
      a(shown.answer(r));
    });
  if (!server) serving::leave(fail(server.error(), exit_code::cannot_start));

  const auto port = std::to_string((*server)->port());
  if (!o.port_file.empty()) {
    if (auto e = write_file(o.port_file, port + "\n"))
      serving::leave(fail(e, exit_code::cannot_start));
  }
  const bool v6 = where->host.find(':') != std::string::npos;
  const auto host = v6 ? "[" + where->host + "]" : where->host;
  serving::tell_ready(o, "http://" + host + ":" + port);

  (void)stop.wait();
  (*server)->stop(serving::last_words);
  print_line("sandbox: " + shown.summary());
  serving::leave(exit_code::done);
}

} // namespace sluice
