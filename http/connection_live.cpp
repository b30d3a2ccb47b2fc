#include "http/connection.hpp"
#include "http/head.hpp"

#include <array>
#include <charconv>

/// The part of a connection that sends a body while it is written.
namespace sluice::http {

void connection::respond_live(response r) {
  keep_alive_ = false;
  live_ = std::move(r.live);
  if (core_->stopping) return close();
  put_live_head(head_, r, chunked_);
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

} // namespace sluice::http
