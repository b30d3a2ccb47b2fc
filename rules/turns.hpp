#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// A queue in which keys take turns (B22): between two of one key everyone else who waits has had
/// one. Within a key the order is that of arrival; a key that begins to wait comes last.
template <class T>
class turns {
public:
  void push(const std::string& key, T item) {
    auto& mine = queues_[key];
    if (mine.empty()) order_.push_back(key);
    mine.push_back(std::move(item));
    ++size_;
  }

  /// Only of a queue that is not empty.
  T pop() {
    auto key = std::move(order_.front());
    order_.pop_front();
    auto at = queues_.find(key);
    T item = std::move(at->second.front());
    at->second.pop_front();
    --size_;
    if (at->second.empty())
      queues_.erase(at);
    else
      order_.push_back(std::move(key));
    return item;
  }

  /// Takes out those for which `wanted` is true, keys in turn.
  template <class Predicate>
  std::vector<T> take_if(Predicate wanted) {
    std::vector<T> taken;
    turns rest;
    while (!empty()) {
      auto key = order_.front();
      auto item = pop();
      if (wanted(std::as_const(item)))
        taken.push_back(std::move(item));
      else
        rest.push(key, std::move(item));
    }
    *this = std::move(rest);
    return taken;
  }

  /// Shows all that wait, in no order that matters.
  template <class F>
  void each(F look) const {
    for (const auto& [key, queue] : queues_)
      for (const auto& item : queue)
        look(item);
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
  std::map<std::string, std::deque<T>> queues_;
  std::deque<std::string> order_; ///< keys that wait, the next one first
  std::size_t size_ = 0;
};

} // namespace sluice
