#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace sluice::test {

/// A connected socket that tests speak to byte by byte. Whoever waits in vain gets an exception
/// after ten seconds, so that a broken test fails instead of hanging.
class raw_stream {
public:
  explicit raw_stream(int fd) noexcept : fd_{fd} {}
  raw_stream(raw_stream&& other) noexcept
    : fd_{std::exchange(other.fd_, -1)}, buffer_{std::move(other.buffer_)} {}
  raw_stream& operator=(raw_stream&&) = delete;
  ~raw_stream() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// Connects to 127.0.0.1.
  static raw_stream to(std::uint16_t port) {
    raw_stream made{::socket(AF_INET, SOCK_STREAM, 0)};
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(made.fd_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
      throw std::runtime_error{"cannot connect"};
    }
    return made;
  }

  [[nodiscard]] int fd() const noexcept { return fd_; }

  /// False when the other side is gone.
  bool send(std::string_view text) {
    while (!text.empty()) {
      const auto n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  void end_sending() { ::shutdown(fd_, SHUT_WR); }

  /// Everything up to and including `mark`; what came before the end if that comes first.
  std::string read_until(std::string_view mark) {
    while (buffer_.find(mark) == std::string::npos) {
      if (!more()) return std::exchange(buffer_, {});
    }
    return take(buffer_.find(mark) + mark.size());
  }

  std::string read_bytes(std::size_t n) {
    while (buffer_.size() < n && more()) {
    }
    return take(n);
  }

  std::string read_to_end() {
    while (more()) {
    }
    return std::exchange(buffer_, {});
  }

  /// A whole message that has a Content-Length, or none and no body.
  std::string read_message() {
    auto head = read_until("\r\n\r\n");
    constexpr std::string_view name = "Content-Length: ";
    const auto at = head.find(name);
    if (at == std::string::npos) return head;
    return head + read_bytes(std::stoul(head.substr(at + name.size())));
  }

private:
  bool more() {
    pollfd ready{fd_, POLLIN, 0};
    if (::poll(&ready, 1, 10'000) != 1) throw std::runtime_error{"nothing to read for ten seconds"};
    char bytes[16 * 1024];
    const auto n = ::recv(fd_, bytes, sizeof bytes, 0);
    if (n <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  std::string take(std::size_t n) {
    auto front = buffer_.substr(0, n);
    buffer_.erase(0, n);
    return front;
  }

  int fd_;
  std::string buffer_;
};

} // namespace sluice::test
