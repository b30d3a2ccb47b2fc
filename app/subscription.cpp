#include "app/subscription.hpp"

#include <iterator>
#include <utility>

namespace sluice {

subscription::news subscription::wait(duration at_most) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, at_most, [this] { return news_.over || !news_.events.empty(); });
  news told{std::exchange(news_.events, {}), news_.over, news_.why};
  return told;
}

void subscription::take(std::string_view bytes) {
  std::lock_guard lock{mutex_};
  auto more = reader_.take(bytes);
  std::move(more.begin(), more.end(), std::back_inserter(news_.events));
  changed_.notify_all();
}

void subscription::end(error why) {
  std::lock_guard lock{mutex_};
  news_.over = true;
  news_.why = std::move(why);
  changed_.notify_all();
}

} // namespace sluice
