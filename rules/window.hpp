#pragma once

#include "base/time.hpp"
#include "messages/gates.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

/// At most `limit` units in any window of this length.
struct window_config {
  std::uint32_t limit = 4000;
  duration length{3'600'000};
  duration wait_max{4'500'000}; ///< no provider can make us wait longer

  friend bool operator==(const window_config&, const window_config&) = default;
};

/// A sliding window (H7, B14). When a request that is under way reaches the provider is not known,
/// only that it does before it is finished: so what is open counts as of now, and what is finished
/// in the slot, 1/60 of the window, in which it was. Then no window of the provider's own log has
/// more than the limit. A unit must be stored as open before it is used.
struct window {
  duration slot_length{};
  std::int64_t slot = 0;             ///< the newest, counted from 1970
  std::vector<std::uint32_t> counts; ///< finished units, newest slot first, no zeros at the end
  std::uint32_t open = 0;            ///< units reserved or under way
  std::uint32_t provider_limit = 0;  ///< 0: unknown
  duration provider_window{};        ///< 0: as long as ours
  timestamp blocked_until{};
  std::uint32_t limited = 0; ///< answers in a row that said "too many" and not until when

  friend bool operator==(const window&, const window&) = default;
};

template <class Fields>
void describe(Fields& f, window& x) {
  f("slotLength", x.slot_length);
  f("slot", x.slot);
  f("counts", x.counts);
  f("open", x.open);
  f("providerLimit", x.provider_limit);
  f("providerWindow", x.provider_window);
  f("blockedUntil", x.blocked_until);
  f("limited", x.limited);
}

struct window_answer {
  window next;
  std::uint32_t granted = 0; ///< 0: try again at `at`
  timestamp at{};

  friend bool operator==(const window_answer&, const window_answer&) = default;
};

/// What is allowed in a window: the configured limit, or the provider's less a tenth if that is
/// smaller. Never 0 because of a provider.
[[nodiscard]] std::uint32_t allowed(const window& w, const window_config& config) noexcept;

/// Opens `least` to `wanted` units, as many as there are, or none. `least` above what is ever
/// allowed means: an empty window. Time that runs backwards gives nothing back.
[[nodiscard]] window_answer reserve(window w, std::uint32_t least, std::uint32_t wanted,
                                    const window_config& config, timestamp now);

/// `units` that were open were used, by now.
[[nodiscard]] window finish(window w, std::uint32_t units, const window_config& config,
                            timestamp now);

/// `units` that were open never went out.
[[nodiscard]] window give_back(window w, std::uint32_t units) noexcept;

/// What an answer tells about the provider's budget: less than a tenth left, wait for its reset;
/// Retry-After and secondary limits, wait until then; "too many" and no time, a minute, then twice
/// that. A time in the past asks for nothing, one beyond `wait_max` is cut to it.
[[nodiscard]] window report(window w, const rate_report& r, pass_outcome outcome,
                            const window_config& config, timestamp now) noexcept;

/// A stored window at a new start: what was open then counts as used now, so nothing is granted
/// twice. A clock that went back makes the window no longer than it is.
[[nodiscard]] window restored(window stored, const window_config& config, timestamp now);

} // namespace sluice
