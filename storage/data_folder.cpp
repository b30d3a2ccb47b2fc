#include "storage/data_folder.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace sluice {

namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = "sluice.lock";

error folder_trouble(const std::string& folder, std::string_view what, int code) {
  const auto kind = code == ENOSPC || code == EDQUOT ? errc::disk_full : errc::storage_failed;
  return make_error(kind, folder + ": " + std::string{what} + ": " + std::strerror(code));
}

error create_folder(const std::string& folder) {
  std::error_code ec;
  const bool created = fs::create_directories(folder, ec);
  if (ec) return folder_trouble(folder, "cannot be created", ec.value());
  if (created || fs::is_empty(folder, ec)) {
    if (::chmod(folder.c_str(), 0700) != 0) {
      return folder_trouble(folder, "cannot be made private", errno);
    }
  }
  return {};
}

std::string pid_in(int fd) {
  std::array<char, 16> text{};
  const auto n = ::pread(fd, text.data(), text.size(), 0);
  std::string pid;
  for (ssize_t i = 0; i < n; ++i) {
    const char c = text[static_cast<std::size_t>(i)];
    if (c < '0' || c > '9') break;
    pid += c;
  }
  return pid;
}

} // namespace

result<folder_contents> look_into(const std::string& folder) {
  folder_contents found;
  std::error_code ec;
  const auto what = fs::status(folder, ec);
  if (what.type() == fs::file_type::not_found) return found;
  if (ec) return folder_trouble(folder, "cannot be read", ec.value());
  if (!fs::is_directory(what)) return make_error(errc::foreign_folder, folder + ": not a folder");
  found.exists = true;
  fs::directory_iterator it{folder, ec};
  for (; !ec && it != fs::directory_iterator{}; it.increment(ec)) {
    const auto name = it->path().filename();
    std::error_code ignored;
    if (name == lock_name)
      found.lock = true;
    else if (name == "data.mdb")
      found.data = it->file_size(ignored) > 0;
    else if (name != "lock.mdb")
      found.other = true;
  }
  if (ec) return folder_trouble(folder, "cannot be read", ec.value());
  return found;
}

result<folder_lock> folder_lock::take(const std::string& folder) {
  if (auto e = create_folder(folder)) return e;
  const auto path = folder + "/" + lock_name;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return folder_trouble(folder, "cannot be locked", errno);
  folder_lock lock{fd};
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return folder_trouble(folder, "cannot be locked", errno);
    const auto pid = pid_in(fd);
    return make_error(errc::locked, folder + ": in use by "
                                      + (pid.empty() ? "another process" : "process " + pid));
  }
  const auto pid = std::to_string(::getpid()) + "\n";
  // Only a courtesy to who is refused: without it the lock holds all the same.
  if (::ftruncate(fd, 0) == 0) {
    [[maybe_unused]] const auto n = ::pwrite(fd, pid.data(), pid.size(), 0);
  }
  return lock;
}

folder_lock::~folder_lock() {
  if (fd_ >= 0) ::close(fd_);
}

error sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return folder_trouble(folder, "cannot be synced", errno);
  const int code = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (code != 0) return folder_trouble(folder, "cannot be synced", code);
  return {};
}

} // namespace sluice
