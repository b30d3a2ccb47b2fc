#pragma once

#include "base/error.hpp"

#include <string>
#include <utility>

namespace sluice {

/// What lies in the folder of a journal, as far as that can be said without opening it.
struct folder_contents {
  bool exists = false;
  bool lock = false;  ///< our lock file
  bool data = false;  ///< LMDB's data file, with something in it
  bool other = false; ///< things that are not ours
};

[[nodiscard]] result<folder_contents> look_into(const std::string& folder);

/// The right to use a folder, given up when it is destroyed or the process dies.
class folder_lock {
public:
  /// Creates folder (0700 whatever the umask) and lock file when they are absent. `errc::locked`
  /// when another process has it, with that process's id if it is known.
  static result<folder_lock> take(const std::string& folder);

  folder_lock() = default;
  folder_lock(folder_lock&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  folder_lock& operator=(folder_lock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~folder_lock();

private:
  explicit folder_lock(int fd) noexcept : fd_{fd} {}

  int fd_ = -1;
};

/// Makes the names in a folder durable: LMDB never does.
[[nodiscard]] error sync_folder(const std::string& folder);

} // namespace sluice
