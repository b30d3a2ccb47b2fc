#include "sandbox/fetch_log.hpp"

namespace sluice::sandbox {

void fetch_log::asked_about(connection_ref c) {
  const std::lock_guard hold{mutex_};
  log_.connections[c].asked = true;
}

std::uint32_t fetch_log::asked_for(list_ref l, std::uint64_t page,
                                   std::optional<std::int64_t> since_ms, timestamp now) {
  const std::lock_guard hold{mutex_};
  auto& c = log_.connections[l.of.owner];
  if (!c.fetched) {
    c.fetched = true;
    log_.order.push_back({l.of.owner, to_millis(now)});
  }
  if (since_ms && (!c.since_ms || *since_ms < *c.since_ms)) c.since_ms = since_ms;
  return log_.lists[l].pages[page].asked++;
}

std::uint64_t fetch_log::went_out(list_ref l, std::uint64_t page) {
  const std::lock_guard hold{mutex_};
  auto& list = log_.lists[l];
  if (list.pages[page].whole++ == 0) ++list.distinct;
  return ++list.fetches;
}

fetch_log::snapshot fetch_log::all() const {
  const std::lock_guard hold{mutex_};
  return log_;
}

void fetch_log::clear() {
  const std::lock_guard hold{mutex_};
  log_ = {};
}

} // namespace sluice::sandbox
