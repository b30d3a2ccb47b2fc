#pragma once

#include "http/server.hpp"
#include "tests/support/raw_stream.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace sluice::test {

/// A server on a free port of 127.0.0.1; by default it answers with what it was asked.
class running_server {
public:
  explicit running_server(http::server_options options = {}, http::request_handler handler = echo) {
    auto started = http::server::start(std::move(options), std::move(handler));
    if (!started) throw std::runtime_error{to_text(started.error())};
    server_ = std::move(*started);
  }

  static void echo(const http::request& r, const http::responder& reply) {
    http::response answer;
    answer.body = r.method + " " + r.target + " " + r.body;
    answer.content_type = "text/plain";
    reply(std::move(answer));
  }

  http::server* operator->() const noexcept { return server_.get(); }
  [[nodiscard]] raw_stream connect() const { return raw_stream::to(server_->port()); }
  [[nodiscard]] std::string url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(server_->port()) + std::string{path};
  }

private:
  std::unique_ptr<http::server> server_;
};

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace sluice::test
