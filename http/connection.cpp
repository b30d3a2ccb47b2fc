#include "http/connection.hpp"

#include "base/uuid.hpp"
#include "http/guards.hpp"
#include "http/head.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice::http {

namespace beast = boost::beast;

namespace {

/// One piece is cheaper to send than two; above this it is cheaper not to copy.
constexpr std::size_t joined_bytes_max = 4ULL * 1024;

/// Nobody will send it: whoever writes a live body must not do so for ever.
void give_up(const std::optional<response>& r) {
  if (r && r->live) r->live->close();
}

} // namespace

// -- transport ------------------------------------------------------------------

void transport::read_some(net::mutable_buffer into, handler h) {
  socket.async_read_some(into, std::move(h));
}

std::size_t transport::write_some(const buffers& from, boost::system::error_code& failed) {
  if (from[1].size() == 0) return socket.write_some(from[0], failed);
  return socket.write_some(from, failed);
}

void transport::write(const buffers& from, handler h) {
  net::async_write(socket, from, std::move(h));
}

void transport::end_sending() {
  boost::system::error_code ignored;
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

void transport::close() {
  boost::system::error_code ignored;
  socket.close(ignored);
}

// -- one request after the other ------------------------------------------------

connection::connection(std::shared_ptr<server_core> core, tcp::socket socket)
  : core_{std::move(core)}, transport_{std::move(socket)}, timer_{transport_.socket.get_executor()},
    delay_{transport_.socket.get_executor()} {
  boost::system::error_code ignored;
  transport_.socket.non_blocking(true, ignored);
}

void connection::on_strand(void (connection::*what)()) {
  net::post(transport_.socket.get_executor(),
            [self = shared_from_this(), what] { (self.get()->*what)(); });
}

void connection::serve() {
  on_strand(&connection::next_request);
}

void connection::turn_away() {
  net::post(transport_.socket.get_executor(), [self = shared_from_this()] {
    self->refuse({503, "UNAVAILABLE", "the server has too many connections", true});
  });
}

void connection::finish() {
  net::post(transport_.socket.get_executor(), [self = shared_from_this()] {
    const bool nothing_read = self->parser_ && !self->parser_->got_some();
    if (self->phase_ == phase::idle || self->phase_ == phase::streaming
        || (self->phase_ == phase::reading && nothing_read)) {
      self->close();
    }
  });
}

void connection::cut() {
  on_strand(&connection::close);
}

void connection::next_request() {
  if (phase_ == phase::closed) return;
  const bool first = !parser_;
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(core_->options.header_bytes_max);
  parser_->body_limit(core_->options.body_bytes_max);
  continued_ = false;
  is_head_ = false;
  // A new connection has something to say: it gets the time of a request, not that of a pause.
  if (first || input_.size() > 0) {
    enter(phase::reading, core_->options.request_timeout);
  } else if (core_->stopping) {
    return close();
  } else {
    enter(phase::idle, core_->options.idle_timeout);
  }
  if (input_.size() > 0) return parse();
  read();
}

void connection::read() {
  auto got = [self = shared_from_this()](boost::system::error_code failed, std::size_t n) {
    if (self->phase_ != phase::idle && self->phase_ != phase::reading) return;
    if (failed) return self->close();
    self->input_.commit(n);
    if (self->phase_ == phase::idle) {
      self->enter(phase::reading, self->core_->options.request_timeout);
    }
    self->parse();
  };
  transport_.read_some(input_.prepare(read_bytes), std::move(got));
}

void connection::parse() {
  while (input_.size() > 0 && !parser_->is_done()) {
    boost::system::error_code failed;
    input_.consume(parser_->put(input_.data(), failed));
    if (failed == beast::http::error::need_more) break;
    if (failed) return refuse(failed);
  }
  if (parser_->is_done()) return dispatch();
  const bool waits = parser_->is_header_done() && !continued_ && parser_->get().version() == 11
                     && same_name(parser_->get()[beast::http::field::expect], "100-continue");
  if (waits) return send_continue();
  read();
}

void connection::send_continue() {
  continued_ = true;
  head_ = "HTTP/1.1 100 Continue\r\n\r\n";
  auto sent = [self = shared_from_this()](boost::system::error_code failed, std::size_t) {
    if (self->phase_ != phase::reading) return;
    if (failed) return self->close();
    self->read();
  };
  transport_.write({net::buffer(head_)}, std::move(sent));
}

namespace {

/// The connection whose request this thread is handing on: it takes an answer at once, while all
/// others are told by a message to their executor.
thread_local connection* handing_on = nullptr;

} // namespace

void connection::dispatch() {
  auto message = parser_->release();
  request r;
  r.method = std::string{message.method_string()};
  r.target = std::string{message.target()};
  r.body = std::move(message.body());
  r.headers.reserve(8);
  for (const auto& f : message) {
    r.headers.push_back({std::string{f.name_string()}, std::string{f.value()}});
  }
  keep_alive_ = message.version() == 11 && message.keep_alive();
  chunked_ = message.version() == 11;
  is_head_ = r.method == "HEAD";
  enter(phase::working);
  if (!r.target.starts_with('/') && r.target != "*") {
    return refuse({400, "BAD_REQUEST", "the request target must begin with /"});
  }
  const auto host = r.header("Host");
  const bool known = host == good_host_ && r.count("Host") == 1 && r.count("Origin") == 0;
  if (!known || host.empty()) {
    if (auto bad = guard(r, message.version() == 10, core_->options.host)) return refuse(*bad);
    good_host_ = host;
  }

  // Weak: an answer may come when the server is gone. While it is there, `open` keeps us alive.
  auto send = [weak = weak_from_this()](std::optional<response> answer) {
    auto self = weak.lock();
    if (!self) return give_up(answer);
    self->send_answer(std::move(answer));
  };
  const auto self = shared_from_this();
  handing_on = this;
  core_->handler(std::move(r), responder{std::move(send)});
  handing_on = nullptr;
  if (instant_) answered(*std::exchange(instant_, std::nullopt));
}

/// On whatever thread.
void connection::send_answer(std::optional<response> r) {
  if (handing_on == this) {
    instant_.emplace(std::move(r));
    return;
  }
  net::post(transport_.socket.get_executor(),
            [weak = weak_from_this(), r = std::move(r)]() mutable {
              auto self = weak.lock();
              if (!self) return give_up(r);
              self->answered(std::move(r));
            });
}

void connection::answered(std::optional<response> r) {
  if (phase_ != phase::working) return give_up(r);
  if (r && r->delay > duration{0}) return respond_later(std::move(*r));
  if (r) return respond(std::move(*r));
  refuse({503, "UNAVAILABLE", "nobody answered this request", true});
}

void connection::refuse(boost::system::error_code why) {
  using beast::http::error;
  if (why == error::header_limit || why == error::buffer_overflow) {
    const auto limit = std::to_string(core_->options.header_bytes_max);
    return refuse({431, "HEADERS_TOO_LARGE", "the headers exceed " + limit + " bytes"});
  }
  if (why == error::body_limit) {
    const auto limit = std::to_string(core_->options.body_bytes_max);
    return refuse({413, "BODY_TOO_LARGE", "the body exceeds " + limit + " bytes"});
  }
  refuse({400, "BAD_REQUEST", "the request cannot be read: " + why.message()});
}

void connection::refuse(const problem& p) {
  keep_alive_ = false;
  const auto now = core_->options.clock.now(std::chrono::steady_clock::now());
  respond(to_response(p, to_string(uuid_source{}.next(now)), now));
}

void connection::respond(response r) {
  if (phase_ == phase::closed) return;
  if (r.lost) return close();
  if (r.live) return respond_live(std::move(r));
  enter(phase::writing);
  if (core_->stopping) keep_alive_ = false;
  put_head(head_, r, keep_alive_);
  body_ = std::move(r.body);
  if (!has_body(r.status) || is_head_) body_.clear();
  auto bytes = r.cut_after.value_or(body_.size());
  if (r.cut_after) keep_alive_ = false;
  if (bytes <= joined_bytes_max) head_.append(body_, 0, std::exchange(bytes, 0));

  // Nearly always all of it goes out at once, and nobody need wait for that.
  transport::buffers out{net::buffer(head_), net::buffer(body_, bytes)};
  boost::system::error_code failed;
  auto done = transport_.write_some(out, failed);
  if (failed == net::error::would_block || failed == net::error::try_again) failed = {};
  if (failed || done == net::buffer_size(out)) return sent(failed);
  for (auto& b : out) {
    const auto part = std::min(done, b.size());
    b += part;
    done -= part;
  }
  enter(phase::writing, core_->options.write_timeout);
  transport_.write(out, [self = shared_from_this()](boost::system::error_code why, std::size_t) {
    self->sent(why);
  });
}

void connection::sent(boost::system::error_code failed) {
  if (phase_ != phase::writing) return;
  if (failed) return close();
  if (!keep_alive_) return linger();
  // With its next request here already it would go on for ever; others get their turn first.
  if (input_.size() > 0) return on_strand(&connection::next_request);
  next_request();
}

void connection::respond_later(response r) {
  delay_.expires_after(std::exchange(r.delay, {}));
  delay_.async_wait(
    [self = shared_from_this(), r = std::move(r)](boost::system::error_code e) mutable {
      if (!e && self->phase_ == phase::working) self->respond(std::move(r));
    });
}

/// Closing with unread input would reset the connection and with it our last words on their way.
void connection::linger() {
  if (phase_ != phase::lingering) {
    if (live_) live_->close();
    transport_.end_sending();
    enter(phase::lingering, core_->options.linger_timeout);
  }
  if (watching_) return; // goes on here by itself
  input_.clear();
  auto got = [self = shared_from_this()](boost::system::error_code failed, std::size_t) {
    if (self->phase_ != phase::lingering) return;
    if (failed) return self->close();
    self->linger();
  };
  transport_.read_some(input_.prepare(read_bytes), std::move(got));
}

void connection::close() {
  if (phase_ == phase::closed) return;
  enter(phase::closed);
  ++timer_turn_;
  timer_.cancel();
  delay_.cancel();
  if (live_) live_->close();
  transport_.close();
  core_->forget(shared_from_this());
}

// -- deadlines --------------------------------------------------------------------

void connection::enter(phase p, duration limit) {
  phase_ = p;
  deadline_ = std::chrono::steady_clock::now() + limit;
  if (deadline_ < rings_at_) arm();
}

void connection::enter(phase p) {
  phase_ = p;
  deadline_ = steady_point::max();
}

/// Setting a timer costs more than serving a small request, so it is not set for each phase: it
/// rings, looks at the deadline that then holds, and is set again.
void connection::arm() {
  rings_at_ = deadline_;
  timer_.expires_at(rings_at_);
  timer_.async_wait([self = shared_from_this(), turn = ++timer_turn_](boost::system::error_code e) {
    if (!e && turn == self->timer_turn_) self->rang();
  });
}

void connection::rang() {
  rings_at_ = steady_point::max();
  if (phase_ == phase::closed || deadline_ == steady_point::max()) return;
  if (std::chrono::steady_clock::now() < deadline_) return arm();
  expired();
}

void connection::expired() {
  if (phase_ != phase::reading || !parser_->got_some()) return close();
  refuse({408, "REQUEST_TIMEOUT", "the request did not arrive in time", true});
}

} // namespace sluice::http
