#pragma once

#include "base/time.hpp"
#include "messages/gates.hpp"

#include <cstdint>

namespace sluice {

struct circuit_config {
  std::uint32_t failure_threshold = 5; ///< failures in a row that open it
  duration reset_timeout{30'000};      ///< from opening to the first probe
  std::uint32_t success_threshold = 1; ///< probes in a row that close it

  friend bool operator==(const circuit_config&, const circuit_config&) = default;
};

/// Whether a service is called at all (H1). A new one is closed.
struct circuit {
  circuit_status status = circuit_status::closed;
  std::uint32_t failures = 0;  ///< in a row, while closed
  std::uint32_t successes = 0; ///< of probes, while half open
  timestamp opened_at{};       ///< the newest opening
  std::uint64_t probe = 0;     ///< its permit; 0: none is under way. Not stored.

  friend bool operator==(const circuit&, const circuit&) = default;
};

template <class Fields>
void describe(Fields& f, circuit& x) {
  f("status", x.status);
  f("failures", x.failures);
  f("successes", x.successes);
  f("openedAt", x.opened_at);
}

struct circuit_event {
  enum class what : std::uint8_t {
    ask,      ///< `permit` wants to go through
    success,  ///< the request with `permit` was answered, or `count` without one
    failure,  ///< likewise not, or the service said that it is not well
    not_sent, ///< nothing went out for `permit`
    timeout,  ///< the time-out of the opening at `opened_at`
  };
  what kind = what::ask;
  std::uint64_t permit = 0;
  std::uint32_t count = 1;
  timestamp opened_at{};
};

enum class circuit_effect : std::uint8_t {
  none,
  let_pass,
  let_probe, ///< it passes and is the only one
  refuse,    ///< until `at`; `never`: until the probe is back
  schedule,  ///< it opened: a time-out for `next.opened_at` at `at`
  offer,     ///< it is half open and the next to ask is the probe
  release,   ///< it closed
};

struct circuit_step {
  circuit next;
  circuit_effect effect = circuit_effect::none;
  timestamp at{};

  friend bool operator==(const circuit_step&, const circuit_step&) = default;
};

/// What follows (H2). Outcomes of requests that were under way when it opened change nothing, nor
/// does a time-out that belongs to an earlier opening (H4); two failures at the same moment are
/// two. A question after `reset_timeout` is the probe, whether or not the time-out was delivered.
[[nodiscard]] circuit_step next(circuit c, const circuit_event& e, const circuit_config& config,
                                timestamp now) noexcept;

/// A stored circuit at a new start: no probe is under way, and it stays open for no longer than
/// `reset_timeout` from now, wherever the clock went meanwhile (I20).
[[nodiscard]] circuit restored(circuit stored, timestamp now) noexcept;

} // namespace sluice
