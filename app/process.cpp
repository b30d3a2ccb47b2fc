#include "app/process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace sluice {

namespace {

sigset_t stopping_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

} // namespace

void harden_process() {
  ::umask(077);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  std::signal(SIGPIPE, SIG_IGN);
}

bool is_root() noexcept {
  return ::geteuid() == 0;
}

stop_signals::stop_signals(std::function<void()> again) {
  const auto set = stopping_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // Never joined: the process ends by `_Exit`, with this thread still waiting.
  std::thread{[this, set, again = std::move(again)] {
    for (;;) {
      int signal = 0;
      if (::sigwait(&set, &signal) != 0) continue;
      if (first_.load() != 0) {
        again();
        continue;
      }
      first_ = signal;
      came_.release();
    }
  }}.detach();
}

std::string stop_signals::wait() {
  came_.acquire();
  return first_.load() == SIGINT ? "SIGINT" : "SIGTERM";
}

error write_file(const std::string& path, const std::string& text) {
  const auto part = path + ".part";
  std::ofstream out{part, std::ios::trunc};
  out << text << std::flush;
  out.close();
  if (out && std::rename(part.c_str(), path.c_str()) == 0) return {};
  const std::string why = std::strerror(errno);
  std::remove(part.c_str());
  return make_error(errc::storage_failed, path + ": cannot be written: " + why);
}

} // namespace sluice
