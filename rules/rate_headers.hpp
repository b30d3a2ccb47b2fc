#pragma once

#include "base/time.hpp"
#include "messages/http.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// What a provider asks of us by its limits (B14).
enum class rate_kind : std::uint8_t {
  none,            ///< go on
  low_budget,      ///< the answer holds, but less than a tenth of the budget is left
  primary_limit,   ///< refused: the budget of the bucket is used up
  secondary_limit, ///< refused: too fast or too many at once; also go on with fewer
};

/// No wait is longer than this, whatever a header says: then the provider is asked again. The
/// windows of the providers we know are one hour.
inline constexpr duration rate_wait_max = std::chrono::minutes{65};

/// Where a limit names no time (GitHub: "at least one minute").
inline constexpr duration rate_wait_unknown = std::chrono::seconds{60};

struct rate_hint {
  rate_kind kind = rate_kind::none;
  std::optional<std::uint64_t> limit{};
  std::optional<std::uint64_t> remaining{};
  std::optional<std::uint64_t> used{};
  std::string resource{};                ///< the provider's name of the bucket, if it says one
  std::optional<timestamp> reset_at{};   ///< by our clock, between `now` and the longest wait
  std::optional<duration> retry_after{}; ///< between 0 and the longest wait
  timestamp wait_until{};                ///< before this nothing of the bucket; `never`: no wait

  friend bool operator==(const rate_hint&, const rate_hint&) = default;
};

/// Reads `Retry-After` and `X-RateLimit-*` of an answer. `message` is the provider's sentence,
/// `body_reset` a reset that the body names; it wins over the header's.
///
/// Resets are moments of the provider's clock. Where the answer has a `Date`, what counts is their
/// distance from it, so that a wrong clock on either side does not matter.
///
/// A refusal (403, 429) that names a wait, an empty budget or a secondary limit is a limit; any
/// other 429 is a secondary one; any other 403 is none. Of other failures only `Retry-After`
/// counts.
[[nodiscard]] rate_hint read_rate(const http_response& response, std::string_view message,
                                  std::optional<timestamp> body_reset, timestamp now);

} // namespace sluice
