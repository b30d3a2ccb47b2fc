#pragma once

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace sluice::bench {

/// A process that this one starts and, at the latest with this object, kills.
class child {
public:
  /// Runs `program` with these arguments and, beside our own, these variables; its output goes to
  /// `log`, which grows.
  child(const std::string& program, const std::vector<std::string>& arguments,
        const std::vector<std::pair<std::string, std::string>>& variables, const std::string& log);
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child();

  [[nodiscard]] bool running();
  /// -1 when it does not run.
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// kill -9, and waits for its end.
  void kill();
  /// SIGTERM, and waits for its end: the exit code, or -1.
  int end();

private:
  int wait(int options);

  pid_t pid_ = -1;
  int code_ = -1;
};

/// The program that runs now.
[[nodiscard]] std::string own_program();

} // namespace sluice::bench
