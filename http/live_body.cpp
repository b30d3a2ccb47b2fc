#include "http/live_body.hpp"

#include <utility>

namespace sluice::http {

bool live_body::write(std::string_view piece) {
  bool open = false;
  {
    std::lock_guard lock{mutex_};
    if (closed_ || ended_) return false;
    open = piece.size() <= waiting_max_ && waiting_.size() <= waiting_max_ - piece.size();
    if (open)
      waiting_.append(piece);
    else
      closed_ = true;
  }
  tell();
  return open;
}

void live_body::end() {
  {
    std::lock_guard lock{mutex_};
    ended_ = true;
  }
  tell();
}

bool live_body::closed() const {
  std::lock_guard lock{mutex_};
  return closed_;
}

void live_body::attach(std::function<void()> ready) {
  bool now = false;
  {
    std::lock_guard lock{mutex_};
    ready_ = std::move(ready);
    now = !waiting_.empty() || ended_ || closed_;
  }
  if (now) tell();
}

live_body::piece live_body::take() {
  std::lock_guard lock{mutex_};
  told_ = false;
  return {std::exchange(waiting_, {}), ended_};
}

void live_body::close() {
  std::lock_guard lock{mutex_};
  closed_ = true;
  waiting_.clear();
  ready_ = nullptr;
}

void live_body::tell() {
  std::function<void()> ready;
  {
    std::lock_guard lock{mutex_};
    if (told_ || !ready_) return;
    told_ = true;
    ready = ready_;
  }
  ready();
}

} // namespace sluice::http
