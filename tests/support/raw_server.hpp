#pragma once

#include "tests/support/raw_stream.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {

/// A server that says exactly what its script says, right or wrong. The script runs once per
/// connection, on a thread of its own; the connection closes when it returns.
class raw_server {
public:
  using script = std::function<void(raw_stream&)>;

  explicit raw_server(script s) : script_{std::move(s)} {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* address = reinterpret_cast<sockaddr*>(&where);
    socklen_t length = sizeof where;
    if (::bind(listener_, address, length) != 0 || ::listen(listener_, 64) != 0
        || ::getsockname(listener_, address, &length) != 0) {
      throw std::runtime_error{"cannot listen"};
    }
    port_ = ntohs(where.sin_port);
    acceptor_ = std::thread{[this] { accept_all(); }};
  }

  ~raw_server() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      std::lock_guard lock{mutex_};
      for (int fd : open_)
        ::shutdown(fd, SHUT_RDWR);
    }
    for (auto& t : threads_)
      t.join();
  }

  raw_server(const raw_server&) = delete;
  raw_server& operator=(const raw_server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] int connections() const noexcept { return connections_; }
  [[nodiscard]] std::string url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string{path};
  }

private:
  void accept_all() {
    for (int fd = ::accept(listener_, nullptr, nullptr); fd >= 0;
         fd = ::accept(listener_, nullptr, nullptr)) {
      ++connections_;
      {
        std::lock_guard lock{mutex_};
        open_.push_back(fd);
      }
      threads_.emplace_back([this, fd] { serve(fd); });
    }
  }

  void serve(int fd) {
    raw_stream stream{fd};
    try {
      script_(stream);
    } catch (const std::runtime_error&) {
      // The other side fell silent: its test says so.
    }
    std::lock_guard lock{mutex_};
    std::erase(open_, fd);
  }

  script script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

} // namespace sluice::test
