#pragma once

#include "app/event_reader.hpp"
#include "base/error.hpp"
#include "base/time.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace sluice {

/// A stream of events that a node sends. One thread fills it, another waits for news.
class subscription {
public:
  struct news {
    std::vector<told_event> events;
    bool over = false; ///< nothing more will come
    error why;         ///< nothing: the node ended it
  };

  /// What came since the last call; waits for it, but not longer than `at_most`.
  [[nodiscard]] news wait(duration at_most);

  void take(std::string_view bytes);
  void end(error why);

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  event_reader reader_; ///< under `mutex_`, as what follows
  news news_;
};

} // namespace sluice
