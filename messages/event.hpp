#pragma once

#include "base/time.hpp"
#include "messages/ids.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// A durable fact. Its position in the log is given when it is committed.
struct event {
  std::uint64_t seq = 0;   ///< position in the log, 0 until committed
  run_id run;              ///< the run that it belongs to; nil: none
  std::string kind;        ///< `run.requested`, `order.approved` …
  std::string subject;     ///< what it is about: waits match by equality of it
  std::string key;         ///< idempotency key; empty: none
  std::string correlation; ///< the same for everything that one request set off
  std::string traceparent; ///< W3C trace context
  timestamp at{};
  std::string data = "null"; ///< JSON text

  friend bool operator==(const event&, const event&) = default;
};

template <class Fields>
void describe(Fields& f, event& x) {
  f("run", x.run.value);
  f("kind", x.kind);
  f("subject", x.subject);
  f("key", x.key);
  f("correlation", x.correlation);
  f("traceparent", x.traceparent);
  f("at", x.at);
}

/// Kinds that the engine itself writes.
namespace event_kind {
inline constexpr const char* run_requested = "run.requested"; ///< data: the input
inline constexpr const char* run_ended = "run.ended";         ///< data: `run_outcome`
inline constexpr const char* run_cancelled = "run.cancelled"; ///< subject: the run to cancel
inline constexpr const char* step_failed = "step.failed";     ///< data: step, attempt, error
} // namespace event_kind

/// Kinds that only the engine may write: a forged one would begin, end or cancel a run.
[[nodiscard]] inline bool is_engine_kind(std::string_view kind) noexcept {
  return kind == event_kind::run_requested || kind == event_kind::run_ended
         || kind == event_kind::run_cancelled || kind == event_kind::step_failed;
}

} // namespace sluice
