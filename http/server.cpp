#include "http/server.hpp"

#include "http/connection.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <future>
#include <thread>

namespace sluice::http {

namespace {

/// Connections above the limit that are still told so; the rest is closed without a word.
constexpr std::size_t turned_away_max = 32;
/// Out of descriptors: accepting again at once would only spin.
constexpr duration accept_pause{50};

result<net::ip::address> address_of(const server_options& o) {
  boost::system::error_code failed;
  auto address = net::ip::make_address(o.host == "localhost" ? "127.0.0.1" : o.host, failed);
  if (failed) {
    return make_error(errc::bad_input,
                      "cannot listen on '" + o.host + "': it is neither an address nor localhost");
  }
  if (!address.is_loopback()) {
    return make_error(errc::bad_input,
                      "refusing to listen on " + o.host
                        + ": without API keys and TLS only a loopback address is safe (127.0.0.1, "
                          "::1 or localhost)");
  }
  return address;
}

error cannot_listen(const server_options& o, boost::system::error_code why) {
  const auto where = "port " + std::to_string(o.port) + " of " + o.host;
  if (why == net::error::address_in_use) {
    return make_error(errc::address_in_use,
                      where + " is in use: another node may be running there");
  }
  return make_error(errc::bad_input, "cannot listen on " + where + ": " + why.message());
}

} // namespace

net::any_io_executor server_core::new_executor() {
  if (options.threads > 1) return net::make_strand(context);
  return context.get_executor();
}

void server_core::forget(const std::shared_ptr<connection>& c) {
  std::lock_guard lock{mutex};
  open.erase(c);
  changed.notify_all();
}

/// Accepts on a strand of its own and runs the threads.
class listener : public server_core {
public:
  using server_core::server_core;

  error listen(const net::ip::address& address) {
    const tcp::endpoint where{address, options.port};
    boost::system::error_code failed;
    acceptor.open(where.protocol(), failed);
    // Not a way to share the port: it lets a node start again while old connections time out.
    if (!failed) acceptor.set_option(tcp::acceptor::reuse_address{true}, failed);
    if (!failed) acceptor.bind(where, failed);
    if (!failed) acceptor.listen(net::socket_base::max_listen_connections, failed);
    if (failed) return cannot_listen(options, failed);
    return {};
  }

  void run(const std::shared_ptr<listener>& self) {
    net::post(acceptor.get_executor(), [self] { self->accept(self); });
    for (unsigned i = 0; i < std::max(1U, options.threads); ++i) {
      threads.emplace_back([this] { context.run(); });
    }
  }

  void accept(const std::shared_ptr<listener>& self) {
    auto accepted = [self](boost::system::error_code failed, tcp::socket socket) {
      if (!self->acceptor.is_open()) return;
      if (!failed) {
        self->take(self, std::move(socket));
        return self->accept(self);
      }
      self->pause.expires_after(accept_pause);
      self->pause.async_wait([self](boost::system::error_code) {
        if (self->acceptor.is_open()) self->accept(self);
      });
    };
    acceptor.async_accept(new_executor(), std::move(accepted));
  }

  void take(const std::shared_ptr<listener>& self, tcp::socket socket) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay{true}, ignored);
    auto made = std::make_shared<connection>(self, std::move(socket));
    std::size_t others = 0;
    {
      std::lock_guard lock{mutex};
      others = open.size();
      if (stopping || others >= options.connections_max + turned_away_max) return;
      open.insert(made);
    }
    if (others < options.connections_max)
      made->serve();
    else
      made->turn_away();
  }

  net::executor_work_guard<net::io_context::executor_type> work{context.get_executor()};
  tcp::acceptor acceptor{net::make_strand(context)};
  net::steady_timer pause{acceptor.get_executor()};
  std::vector<std::thread> threads;
};

result<std::unique_ptr<server>> server::start(server_options options, request_handler handler) {
  auto address = address_of(options);
  if (!address) return address.error();
  auto core = std::make_shared<listener>(std::move(options), std::move(handler));
  if (auto failed = core->listen(*address)) return failed;
  std::unique_ptr<server> made{new server{core}};
  made->port_ = core->acceptor.local_endpoint().port();
  core->run(core);
  return made;
}

server::~server() {
  stop(duration{0});
}

void server::stop_accepting() {
  auto& l = static_cast<listener&>(*core_);
  if (l.threads.empty()) return;
  auto closed = std::make_shared<std::promise<void>>();
  auto done = closed->get_future();
  net::post(l.acceptor.get_executor(), [&l, closed] {
    boost::system::error_code ignored;
    l.acceptor.close(ignored);
    l.pause.cancel();
    closed->set_value();
  });
  done.wait();
}

void server::stop(duration grace) {
  auto& l = static_cast<listener&>(*core_);
  if (l.threads.empty()) return;
  stop_accepting();
  {
    std::unique_lock lock{l.mutex};
    l.stopping = true;
    for (const auto& c : l.open)
      c->finish();
    l.changed.wait_for(lock, grace, [&] { return l.open.empty(); });
    for (const auto& c : l.open)
      c->cut();
  }
  l.work.reset();
  for (auto& t : l.threads)
    t.join();
  l.threads.clear();
}

} // namespace sluice::http
