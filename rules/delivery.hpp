#pragma once

#include "base/time.hpp"
#include "messages/http.hpp"
#include "rules/backoff.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

/// What an answer of the gateway means for the event that was sent (B15, B18).
namespace sluice {

enum class delivery_verdict : std::uint8_t {
  accepted,     ///< any 2xx, or 409: it is there already
  refused,      ///< the gateway read it and does not want it
  failed,       ///< no answer, 5xx and the like: perhaps the event's fault, perhaps the gateway's
  limited,      ///< 429: not the event's fault
  unauthorized, ///< 401: the API key is wrong, which is no event's fault
};

[[nodiscard]] delivery_verdict judge(const http_response& answer) noexcept;

/// How long the gateway asks to be left alone (429 and 503): seconds or a date, at most
/// `retry_after_max`. Nothing: it does not say, or not in a way that can be read.
[[nodiscard]] std::optional<duration> asked_pause(const http_response& answer, timestamp now);

inline constexpr duration retry_after_max = std::chrono::minutes{10};

struct delivery_config {
  std::uint32_t refusals_max = 3;  ///< answers that refuse the event
  std::uint32_t failures_max = 10; ///< failures while the circuit is closed
  backoff_config pause{0, duration{250}, 2.0, duration{30'000}};
};

/// What an event has behind it.
struct delivery_tries {
  std::uint16_t sent = 0; ///< POSTs
  std::uint8_t refusals = 0;
  std::uint8_t failures = 0; ///< that count
  bool suspect = false;      ///< it failed again although others were accepted in between
  std::uint64_t seen = 0;    ///< how many were accepted in all when it last failed

  friend bool operator==(const delivery_tries&, const delivery_tries&) = default;
};

enum class delivery_next : std::uint8_t { done, again, give_up };

struct delivery_decision {
  delivery_next next = delivery_next::done;
  timestamp at{}; ///< of `again`

  friend bool operator==(const delivery_decision&, const delivery_decision&) = default;
};

/// How things stood when an answer came.
struct delivery_moment {
  bool circuit_closed = true;
  std::uint64_t accepted = 0; ///< events that the gateway took so far, of whatever page
  timestamp now{};
};

/// What follows an answer; `tries` has counted the POST and counts the rest here. An event is given
/// up after `refusals_max` refusals, or `failures_max` failures that came while the circuit was
/// closed (B18): what fails because the gateway is not well uses nothing up. A suspect pays for
/// every failure: where it is the only one left, it holds the circuit open itself.
[[nodiscard]] delivery_decision after_delivery(delivery_verdict verdict, delivery_tries& tries,
                                               const delivery_moment& at,
                                               const delivery_config& config,
                                               std::uint64_t entropy) noexcept;

} // namespace sluice
