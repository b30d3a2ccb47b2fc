#include "tests/support/process.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace sluice::test {

namespace {

namespace fs = std::filesystem;

std::string temp_file() {
  auto path = (fs::temp_directory_path() / "sluice-test-XXXXXX").string();
  const int fd = ::mkstemp(path.data());
  if (fd < 0) throw std::runtime_error{"no temporary file can be made"};
  ::close(fd);
  return path;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (auto& text : texts)
    all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

} // namespace

process::process(const std::string& program, const std::vector<std::string>& args,
                 const std::map<std::string, std::string>& env)
  : out_path_{temp_file()}, err_path_{temp_file()} {
  std::vector<std::string> words{program};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<std::string> variables;
  for (char** v = environ; *v != nullptr; ++v)
    variables.emplace_back(*v);
  for (const auto& [name, value] : env)
    variables.push_back(name + "=" + value);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out_path_.c_str(), O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err_path_.c_str(), O_WRONLY | O_APPEND,
                                   0);
  const int failed = ::posix_spawn(&pid_, program.c_str(), &files, nullptr, pointers(words).data(),
                                   pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error{"cannot start " + program};
}

process::~process() {
  if (running_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  fs::remove(out_path_, ignored);
  fs::remove(err_path_, ignored);
}

void process::signal(int number) const {
  if (running_) ::kill(pid_, number);
}

std::optional<finished> process::wait(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  running_ = false;
  finished f;
  if (WIFEXITED(status)) f.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) f.signal = WTERMSIG(status);
  f.out = read_file(out_path_);
  f.err = read_file(err_path_);
  return f;
}

std::string process::err() const {
  return read_file(err_path_);
}

finished run(const std::string& program, const std::vector<std::string>& args,
             const std::map<std::string, std::string>& env) {
  process p{program, args, env};
  auto f = p.wait(std::chrono::seconds{30});
  if (!f) throw std::runtime_error{program + " does not end"};
  return std::move(*f);
}

temp_folder::temp_folder() {
  path_ = (fs::temp_directory_path() / "sluice-test-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error{"no folder can be made"};
}

temp_folder::~temp_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::map<std::string, std::string> snapshot(const std::string& path) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator{path}) {
    if (entry.is_regular_file()) files.emplace(entry.path().string(), read_file(entry.path()));
  }
  return files;
}

} // namespace sluice::test
