#include "bench/child.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::bench {

child::child(const std::string& program, const std::vector<std::string>& arguments,
             const std::vector<std::pair<std::string, std::string>>& variables,
             const std::string& log) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> pairs;
  for (const auto& [name, value] : variables)
    pairs.push_back(name + "=" + value);
  std::vector<char*> envp;
  for (auto& pair : pairs)
    envp.push_back(pair.data());
  for (char** own = environ; *own != nullptr; ++own)
    envp.push_back(*own);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  if (posix_spawn(&pid_, program.c_str(), &files, nullptr, argv.data(), envp.data()) != 0)
    pid_ = -1;
  posix_spawn_file_actions_destroy(&files);
}

child::~child() {
  kill();
}

int child::wait(int options) {
  if (pid_ < 0) return code_;
  int status = 0;
  if (waitpid(pid_, &status, options) != pid_) return -1;
  pid_ = -1;
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return code_;
}

bool child::running() {
  wait(WNOHANG);
  return pid_ >= 0;
}

void child::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  wait(0);
}

int child::end() {
  if (pid_ < 0) return code_;
  ::kill(pid_, SIGTERM);
  return wait(0);
}

std::string own_program() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).string();
}

} // namespace sluice::bench
