#pragma once

#include "base/error.hpp"

#include <atomic>
#include <functional>
#include <semaphore>
#include <string>

/// What a node asks of the operating system for its own process.
namespace sluice {

/// umask 077, no core dumps, nobody may trace us, a closed socket is an error and no signal (S20).
void harden_process();

[[nodiscard]] bool is_root() noexcept;

/// SIGTERM and SIGINT, taken by a thread of their own. Make it before any other thread: they are
/// blocked in all that come after.
class stop_signals {
public:
  /// `again` is called when a second one comes: somebody is in a hurry.
  explicit stop_signals(std::function<void()> again);
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  /// Returns when the first one has come; its name.
  [[nodiscard]] std::string wait();

private:
  std::binary_semaphore came_{0};
  std::atomic<int> first_{0};
};

/// Replaces `path` by a file with this text, so that a reader sees all of it or nothing.
[[nodiscard]] error write_file(const std::string& path, const std::string& text);

} // namespace sluice
