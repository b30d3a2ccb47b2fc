#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/time.hpp"
#include "http/exchange.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sluice::http {

/// What a server allows (S13). Whoever exceeds a limit is told so in J12's shape, then cut.
struct server_options {
  /// A loopback address or `localhost`; everything else is refused as long as there are no API keys
  /// and no TLS (S1).
  std::string host = "127.0.0.1";
  std::uint16_t port = 0; ///< 0: any free one
  unsigned threads = 1;
  std::size_t connections_max = 1024;
  std::uint32_t header_bytes_max = 16U * 1024;
  std::uint64_t body_bytes_max = 1024ULL * 1024;
  duration request_timeout{15'000}; ///< from its first byte to its last: ends slow-loris
  duration write_timeout{30'000};   ///< for the whole response
  duration idle_timeout{60'000};    ///< between two requests of a connection
  duration linger_timeout{1'000};   ///< for the peer to read our last words before we close
  engine_clock clock{};             ///< for the timestamp of errors
};

/// Called on a thread of the server, once per request: hands the work on and returns. No deadline
/// runs until the responder is used or dropped.
using request_handler = std::function<void(request, responder)>;

struct server_core;

/// An HTTP/1.1 server without routes: keep-alive, pipelining (one request at a time per
/// connection), `Expect: 100-continue`, limits and deadlines, and the guards of `guards.hpp`.
class server {
public:
  /// `errc::address_in_use` when the port is taken, `errc::bad_input` for an address that it may
  /// not or cannot listen on.
  static result<std::unique_ptr<server>> start(server_options options, request_handler handler);

  /// Stops without grace.
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// The port that it listens on.
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  /// Connections that are there go on. Returns when the port is free.
  void stop_accepting();

  /// Stops accepting, closes idle connections, lets requests in flight finish for up to `grace`,
  /// cuts the rest and ends the threads. Answers that come later go nowhere. Not from the handler.
  void stop(duration grace);

private:
  explicit server(std::shared_ptr<server_core> core) : core_{std::move(core)} {}

  std::shared_ptr<server_core> core_;
  std::uint16_t port_ = 0;
};

} // namespace sluice::http
