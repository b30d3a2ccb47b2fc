#include "rules/window.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace sluice {

namespace {

constexpr std::int64_t slots = 60;
/// A window that begins inside a slot touches one slot more than it is long.
constexpr std::size_t slots_kept = slots + 1;
constexpr duration first_block = std::chrono::minutes{1};
/// A reset is told in whole seconds.
constexpr duration reset_grace = std::chrono::seconds{1};

duration slot_length(const window_config& config) noexcept {
  return std::max(duration{1}, duration{(config.length.count() + slots - 1) / slots});
}

std::int64_t slot_of(timestamp t, duration length) noexcept {
  const auto ms = to_millis(t);
  const auto n = length.count();
  return ms >= 0 ? ms / n : -((-ms + n - 1) / n);
}

std::uint64_t sum(const window& w) {
  return std::accumulate(w.counts.begin(), w.counts.end(), std::uint64_t{0});
}

std::uint32_t narrow(std::uint64_t n) noexcept {
  return static_cast<std::uint32_t>(
    std::min<std::uint64_t>(n, std::numeric_limits<std::uint32_t>::max()));
}

void trim(window& w) {
  if (w.counts.size() > slots_kept) w.counts.resize(slots_kept);
  while (!w.counts.empty() && w.counts.back() == 0)
    w.counts.pop_back();
}

window advance(window w, const window_config& config, timestamp now) {
  const auto length = slot_length(config);
  const auto current = slot_of(now, length);
  if (w.slot_length != length) {
    // New, or configured otherwise before: everything counts from now.
    const auto all = sum(w);
    w.slot_length = length;
    w.slot = current;
    w.counts.clear();
    if (all != 0) w.counts.push_back(narrow(all));
    return w;
  }
  if (current <= w.slot) return w;
  const auto shift = std::min<std::int64_t>(current - w.slot, slots_kept);
  w.counts.insert(w.counts.begin(), static_cast<std::size_t>(shift), 0);
  w.slot = current;
  trim(w);
  return w;
}

void count(window& w, std::uint32_t units) {
  if (units == 0) return;
  if (w.counts.empty()) w.counts.push_back(0);
  w.counts.front() = narrow(std::uint64_t{w.counts.front()} + units);
}

/// When `drop` units will have left the window.
timestamp when_gone(const window& w, std::uint64_t drop, timestamp now) {
  for (auto age = w.counts.size(); age-- > 0;) {
    if (w.counts[age] < drop) {
      drop -= w.counts[age];
      continue;
    }
    const auto leaves = w.slot - static_cast<std::int64_t>(age) + std::int64_t{slots_kept};
    return std::max(timestamp{leaves * w.slot_length}, now + duration{1});
  }
  return now + w.slot_length; // what is open has to be finished first
}

} // namespace

std::uint32_t allowed(const window& w, const window_config& config) noexcept {
  if (w.provider_limit == 0) return config.limit;
  std::uint64_t provider = w.provider_limit - (std::uint64_t{w.provider_limit} + 9) / 10;
  if (w.provider_window > duration::zero() && w.provider_window < config.length)
    provider *= static_cast<std::uint64_t>(config.length / w.provider_window);
  return std::min(config.limit, narrow(std::max<std::uint64_t>(provider, 1)));
}

window_answer reserve(window w, std::uint32_t least, std::uint32_t wanted,
                      const window_config& config, timestamp now) {
  w = advance(std::move(w), config, now);
  if (w.blocked_until > now) return {w, 0, w.blocked_until};
  const auto most = allowed(w, config);
  if (most == 0) return {w, 0, now + config.length};
  least = std::clamp(least, 1u, most);
  const auto used = sum(w) + w.open;
  if (used + least > most) return {w, 0, when_gone(w, used + least - most, now)};
  const auto granted =
    static_cast<std::uint32_t>(std::min<std::uint64_t>(most - used, std::max(least, wanted)));
  w.open += granted;
  return {w, granted, now};
}

window finish(window w, std::uint32_t units, const window_config& config, timestamp now) {
  w = advance(std::move(w), config, now);
  w.open -= std::min(units, w.open);
  count(w, units);
  return w;
}

window give_back(window w, std::uint32_t units) noexcept {
  w.open -= std::min(units, w.open);
  return w;
}

window report(window w, const rate_report& r, pass_outcome outcome, const window_config& config,
              timestamp now) noexcept {
  const auto bound = now + config.wait_max;
  timestamp until{};
  if (r.limit != 0) {
    w.provider_limit = r.limit;
    w.provider_window = r.window;
  }
  if (r.blocked_until > now) until = std::min(r.blocked_until, bound);
  const bool low = r.limit != 0 && r.remaining && std::uint64_t{*r.remaining} * 10 < r.limit;
  if (low && r.reset_at > now)
    until = std::max(until, std::min(r.reset_at, bound - reset_grace) + reset_grace);
  if (outcome == pass_outcome::success) w.limited = 0;
  // Many that are under way hear the same: only the first after a wait makes the next one longer.
  if (outcome == pass_outcome::limited && until == never && w.blocked_until <= now) {
    const auto doublings = std::min(w.limited, 20u);
    until = now + std::min(first_block * (1 << doublings), config.wait_max);
    w.limited = doublings + 1;
  }
  w.blocked_until = std::max(w.blocked_until, until);
  return w;
}

window restored(window stored, const window_config& config, timestamp now) {
  const auto current = slot_of(now, slot_length(config));
  if (stored.slot_length == slot_length(config)) stored.slot = std::min(stored.slot, current);
  trim(stored);
  stored = advance(std::move(stored), config, now);
  count(stored, std::exchange(stored.open, 0));
  stored.blocked_until = std::min(stored.blocked_until, now + config.wait_max);
  return stored;
}

} // namespace sluice
