#pragma once

#include "http/live_body.hpp"
#include "http/problem.hpp"
#include "http/server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

/// The inside of the server: included by server.cpp and connection*.cpp only.
namespace sluice::http {

namespace net = boost::asio;
using tcp = net::ip::tcp;

class connection;

/// What one read takes at most.
inline constexpr std::size_t read_bytes = 16ULL * 1024;

/// What all connections of a server share. They keep it alive, and with it the context that their
/// sockets need, so a responder may be used after the server is gone.
struct server_core {
  server_core(server_options o, request_handler h) : options{std::move(o)}, handler{std::move(h)} {}

  /// What keeps the handlers of one connection apart: a strand, or that there is but one thread.
  [[nodiscard]] net::any_io_executor new_executor();

  const server_options options;
  const request_handler handler;
  net::io_context context{static_cast<int>(std::max(1U, options.threads))};

  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_set<std::shared_ptr<connection>> open; ///< under `mutex`; keeps them alive
  std::atomic<bool> stopping{false};

  void forget(const std::shared_ptr<connection>& c);
};

/// Bytes in, bytes out. The one place that will know whether they are encrypted: handlers are
/// `std::function`, so nothing above is a template.
struct transport {
  using handler = std::function<void(boost::system::error_code, std::size_t)>;
  using buffers = std::array<net::const_buffer, 2>; ///< head and body

  tcp::socket socket;

  void read_some(net::mutable_buffer into, handler h);
  /// As much as goes out without waiting.
  std::size_t write_some(const buffers& from, boost::system::error_code& failed);
  void write(const buffers& from, handler h);
  void end_sending();
  void close();
};

/// One connection: reads a request, hands it on, writes the response, begins again. Everything runs
/// on the executor of its socket, one thing at a time.
class connection : public std::enable_shared_from_this<connection> {
public:
  connection(std::shared_ptr<server_core> core, tcp::socket socket);

  /// The first call, on whatever thread: serves it, or tells it that the server is full.
  void serve();
  void turn_away();
  /// The server stops: closes it if it is idle, else after the response under way.
  void finish();
  void cut();

private:
  enum class phase : std::uint8_t { idle, reading, working, writing, streaming, lingering, closed };
  using parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void next_request();
  void read();
  void parse();
  void send_continue();
  void dispatch();
  void send_answer(std::optional<response> r);
  void answered(std::optional<response> r);
  void refuse(const problem& p);
  void refuse(boost::system::error_code why);
  void respond(response r);
  void respond_later(response r);
  void sent(boost::system::error_code failed);
  void respond_live(response r);
  void pump();
  void watch_peer();
  void linger();
  void close();

  void enter(phase p, duration limit);
  void enter(phase p);
  void arm();
  void rang();
  void expired();
  void on_strand(void (connection::*what)());

  const std::shared_ptr<server_core> core_;
  transport transport_;
  net::steady_timer timer_;
  steady_point deadline_ = steady_point::max(); ///< of the phase
  steady_point rings_at_ = steady_point::max(); ///< when the timer looks at it: not later
  std::uint64_t timer_turn_ = 0; ///< tells an expiry that was queued too late to be cancelled
  net::steady_timer delay_;      ///< of a response that waits to be sent
  phase phase_ = phase::idle;
  boost::beast::flat_buffer input_;
  std::optional<parser> parser_;
  bool continued_ = false;
  bool keep_alive_ = true;
  bool is_head_ = false;
  std::string good_host_;                          ///< the Host header that passed the guards last
  std::optional<std::optional<response>> instant_; ///< an answer from inside the handler
  bool chunked_ = true;                            ///< HTTP/1.1: a live body comes in chunks
  bool watching_ = false;           ///< a read is under way that only waits for the peer to leave
  std::shared_ptr<live_body> live_; ///< while streaming
  bool sending_ = false;            ///< a piece of it is under way
  std::string head_;
  std::string body_;
};

} // namespace sluice::http
