#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sluice::test {

/// What a program left behind.
struct finished {
  int code = -1;   ///< exit code; -1: a signal ended it
  int signal = 0;  ///< that signal
  std::string out; ///< standard output
  std::string err; ///< standard error
};

/// A child process with files for its output. Killed with -9 when this goes.
class process {
public:
  /// `args` without the program's name; `env` is added to ours. Throws when it cannot be started.
  process(const std::string& program, const std::vector<std::string>& args,
          const std::map<std::string, std::string>& env = {});
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  /// Nothing when it still runs after `patience`.
  std::optional<finished> wait(std::chrono::milliseconds patience);
  /// Standard error so far.
  [[nodiscard]] std::string err() const;

private:
  std::string out_path_;
  std::string err_path_;
  pid_t pid_ = -1;
  bool running_ = true;
};

/// Runs a program to its end. Throws when that takes more than 30 s.
finished run(const std::string& program, const std::vector<std::string>& args,
             const std::map<std::string, std::string>& env = {});

/// A new folder that is removed with this.
class temp_folder {
public:
  temp_folder();
  ~temp_folder();
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string at(const std::string& name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

[[nodiscard]] std::string read_file(const std::string& path);

/// Every file below `path` with its content: what "unchanged" means.
[[nodiscard]] std::map<std::string, std::string> snapshot(const std::string& path);

} // namespace sluice::test
