#include "http/connection.hpp"

#include "base/uuid.hpp"
#include "http/guards.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace sluice::http {

namespace beast = boost::beast;

namespace {

constexpr std::size_t read_bytes = 16ULL * 1024;

bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

bool has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

std::string status_line(int status) {
  auto line = "HTTP/1.1 " + std::to_string(status) + " ";
  line += std::string_view{
    beast::http::obsolete_reason(beast::http::int_to_status(static_cast<unsigned>(status)))};
  return line + "\r\nX-Content-Type-Options: nosniff\r\n";
}

std::string header_lines(const response& r) {
  std::string lines;
  if (is_printable(r.content_type) && has_body(r.status))
    lines += "Content-Type: " + r.content_type + "\r\n";
  for (const auto& f : r.headers) {
    if (is_printable(f.name) && is_printable(f.value)) lines += f.name + ": " + f.value + "\r\n";
  }
  return lines;
}

std::string head_of(const response& r, bool keep_alive) {
  auto head = status_line(r.status);
  if (has_body(r.status)) head += "Content-Length: " + std::to_string(r.body.size()) + "\r\n";
  return head + header_lines(r) + (keep_alive ? "\r\n" : "Connection: close\r\n\r\n");
}

std::string live_head_of(const response& r, bool chunked) {
  auto head = status_line(r.status) + header_lines(r);
  if (chunked) head += "Transfer-Encoding: chunked\r\n";
  return head + "Connection: close\r\n\r\n";
}

/// Nobody will send it: whoever writes a live body must not do so for ever.
void give_up(const std::optional<response>& r) {
  if (r && r->live) r->live->close();
}

} // namespace

// -- transport ------------------------------------------------------------------

void transport::read_some(net::mutable_buffer into, handler h) {
  socket.async_read_some(into, std::move(h));
}

void transport::write(const std::vector<net::const_buffer>& from, handler h) {
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
  : core_{std::move(core)}, transport_{std::move(socket)},
    timer_{transport_.socket.get_executor()} {}

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

void connection::dispatch() {
  auto message = parser_->release();
  request r;
  r.method = std::string{message.method_string()};
  r.target = std::string{message.target()};
  r.body = std::move(message.body());
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
  if (auto bad = guard(r, message.version() == 10, core_->options.host)) return refuse(*bad);

  // Weak: an answer may come when the server is gone. While it is there, `open` keeps us alive.
  auto send = [weak = weak_from_this()](std::optional<response> answer) {
    auto self = weak.lock();
    if (!self) return give_up(answer);
    net::post(self->transport_.socket.get_executor(), [weak, answer = std::move(answer)]() mutable {
      auto again = weak.lock();
      if (!again) return give_up(answer);
      again->answered(std::move(answer));
    });
  };
  core_->handler(std::move(r), responder{std::move(send)});
}

void connection::answered(std::optional<response> r) {
  if (phase_ != phase::working) return give_up(r);
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
  if (r.live) return respond_live(std::move(r));
  enter(phase::writing, core_->options.write_timeout);
  if (core_->stopping) keep_alive_ = false;
  head_ = head_of(r, keep_alive_);
  body_ = std::move(r.body);
  std::vector<net::const_buffer> out{net::buffer(head_)};
  if (has_body(r.status) && !is_head_) out.emplace_back(net::buffer(body_));
  auto sent = [self = shared_from_this()](boost::system::error_code failed, std::size_t) {
    if (self->phase_ != phase::writing) return;
    if (failed) return self->close();
    if (!self->keep_alive_) return self->linger();
    self->next_request();
  };
  transport_.write(out, std::move(sent));
}

// -- a body that is written while it is sent ---------------------------------------

void connection::respond_live(response r) {
  keep_alive_ = false;
  live_ = std::move(r.live);
  if (core_->stopping) return close();
  head_ = live_head_of(r, chunked_);
  sending_ = true;
  enter(phase::streaming, core_->options.write_timeout);
  auto sent = [self = shared_from_this()](boost::system::error_code failed, std::size_t) {
    self->sending_ = false;
    if (self->phase_ != phase::streaming) return;
    if (failed) return self->close();
    if (self->is_head_) return self->linger();
    self->live_->attach([weak = self->weak_from_this()] {
      if (auto there = weak.lock()) there->on_strand(&connection::pump);
    });
    self->watch_peer();
    self->enter(phase::streaming);
  };
  transport_.write({net::buffer(head_)}, std::move(sent));
}

void connection::pump() {
  if (phase_ != phase::streaming || sending_) return;
  auto piece = live_->take();
  if (live_->closed()) return close();
  // No deadline while the other end has nothing to say.
  if (piece.bytes.empty() && !piece.last) return enter(phase::streaming);
  body_ = std::move(piece.bytes);
  head_.clear();
  if (chunked_ && !body_.empty()) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), body_.size(), 16);
    head_.assign(digits.data(), end.ptr).append("\r\n");
    body_ += "\r\n";
  }
  if (chunked_ && piece.last) body_ += "0\r\n\r\n";
  sending_ = true;
  enter(phase::streaming, core_->options.write_timeout);
  auto sent = [self = shared_from_this(), last = piece.last](boost::system::error_code failed,
                                                             std::size_t) {
    self->sending_ = false;
    if (self->phase_ != phase::streaming) return;
    if (failed) return self->close();
    if (last) return self->linger();
    self->pump();
  };
  transport_.write({net::buffer(head_), net::buffer(body_)}, std::move(sent));
}

/// Only a read tells that the peer left. What it says meanwhile is not for us.
void connection::watch_peer() {
  watching_ = true;
  input_.clear();
  auto got = [self = shared_from_this()](boost::system::error_code failed, std::size_t) {
    self->watching_ = false;
    const bool lingers = self->phase_ == phase::lingering;
    if (self->phase_ != phase::streaming && !lingers) return;
    if (failed) return self->close();
    if (lingers) return self->linger();
    self->watch_peer();
  };
  transport_.read_some(input_.prepare(read_bytes), std::move(got));
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
  if (live_) live_->close();
  transport_.close();
  core_->forget(shared_from_this());
}

// -- deadlines --------------------------------------------------------------------

void connection::enter(phase p, duration limit) {
  enter(p);
  timer_.expires_after(limit);
  timer_.async_wait([self = shared_from_this(), turn = timer_turn_](boost::system::error_code e) {
    if (!e && turn == self->timer_turn_) self->expired();
  });
}

void connection::enter(phase p) {
  phase_ = p;
  ++timer_turn_;
  timer_.cancel();
}

void connection::expired() {
  if (phase_ != phase::reading || !parser_->got_some()) return close();
  refuse({408, "REQUEST_TIMEOUT", "the request did not arrive in time", true});
}

} // namespace sluice::http
