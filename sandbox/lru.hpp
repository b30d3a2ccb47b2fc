#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace sluice::sandbox {

/// Values by key, the least recently used ones forgotten when all of them together exceed a number
/// of bytes. Safe from every thread.
template <class T>
class lru {
public:
  explicit lru(std::size_t bytes_max) : bytes_max_{bytes_max} {}

  [[nodiscard]] std::shared_ptr<const T> find(std::uint64_t key) {
    const std::lock_guard hold{mutex_};
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    used_.splice(used_.begin(), used_, found->second);
    return used_.front().value;
  }

  void keep(std::uint64_t key, std::shared_ptr<const T> value, std::size_t bytes) {
    const std::lock_guard hold{mutex_};
    if (bytes > bytes_max_ || places_.contains(key)) return;
    used_.push_front({key, bytes, std::move(value)});
    places_[key] = used_.begin();
    bytes_ += bytes;
    while (bytes_ > bytes_max_) {
      bytes_ -= used_.back().bytes;
      places_.erase(used_.back().key);
      used_.pop_back();
    }
  }

private:
  struct entry {
    std::uint64_t key;
    std::size_t bytes;
    std::shared_ptr<const T> value;
  };

  const std::size_t bytes_max_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::list<entry> used_;
  std::unordered_map<std::uint64_t, typename std::list<entry>::iterator> places_;
};

} // namespace sluice::sandbox
