#include "rules/rate_headers.hpp"

#include "base/time_text.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {

namespace rate_reading {

/// A refusal is never asked again at once, even when its reset lies in the past.
constexpr duration wait_min{1000};
/// Resets are in whole seconds: the bucket is full for certain one second later.
constexpr duration reset_slack{1000};
/// More is no count, and its milliseconds could overflow.
constexpr std::uint64_t number_max = 1'000'000'000'000'000;
/// Seconds until the year 5138: a larger number counts milliseconds.
constexpr std::uint64_t seconds_max = 100'000'000'000;
/// GitHub's bucket names have at most some 30 characters.
constexpr std::size_t resource_bytes_max = 64;

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> number(std::string_view text) noexcept {
  text = trimmed(text);
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, value);
  if (text.empty() || failed != std::errc{} || at != end || value > number_max) return {};
  return value;
}

duration bounded(duration wait) noexcept {
  return std::clamp(wait, duration::zero(), rate_wait_max);
}

/// How far `at`, by the provider's clock, is from the moment of the answer.
duration distance(timestamp at, const std::optional<timestamp>& date, timestamp now) noexcept {
  const auto bound = from_millis(static_cast<std::int64_t>(number_max));
  return bounded(std::clamp(at, timestamp{}, bound) - date.value_or(now));
}

std::optional<timestamp> header_reset(const http_response& response) noexcept {
  const auto value = number(response.header("x-ratelimit-reset"));
  if (!value) return {};
  const auto millis = *value > seconds_max ? *value : *value * 1000;
  return from_millis(static_cast<std::int64_t>(millis));
}

std::optional<duration> retry_after(const http_response& response,
                                    const std::optional<timestamp>& date, timestamp now) noexcept {
  const auto text = trimmed(response.header("retry-after"));
  if (text.empty()) return {};
  if (const auto at = parse_http_date(text)) return distance(*at, date, now);
  // Digits that are too many still mean "long"; a fraction is cut.
  const auto whole = text.substr(0, text.find('.'));
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (whole.empty() || !std::ranges::all_of(whole, digit)) return {};
  const auto seconds = number(whole);
  if (!seconds || *seconds > 1'000'000) return rate_wait_max;
  return bounded(std::chrono::seconds{*seconds} + duration{whole.size() < text.size() ? 1000 : 0});
}

bool mentions(std::string_view text, std::string_view words) noexcept {
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b;
  };
  return !std::ranges::search(text, words, same).empty();
}

bool mentions_secondary(std::string_view message) noexcept {
  return mentions(message, "secondary rate limit") || mentions(message, "abuse detection");
}

rate_kind refusal(const rate_hint& r, int status, std::string_view message) noexcept {
  if (r.remaining == std::uint64_t{0}) return rate_kind::primary_limit;
  if (mentions_secondary(message)) return rate_kind::secondary_limit;
  if (mentions(message, "rate limit exceeded")) return rate_kind::primary_limit;
  return r.retry_after || status == 429 ? rate_kind::secondary_limit : rate_kind::none;
}

bool is_low(const rate_hint& r) noexcept {
  return r.limit && r.remaining && *r.remaining * 10 < *r.limit;
}

/// The wait of a refusal: what it says itself, else the reset, else a minute.
duration refusal_wait(const rate_hint& r, timestamp now) noexcept {
  if (r.retry_after) return std::max(*r.retry_after, wait_min);
  if (r.kind == rate_kind::primary_limit && r.reset_at)
    return std::clamp(*r.reset_at - now + reset_slack, wait_min, rate_wait_max);
  return rate_wait_unknown;
}

} // namespace rate_reading

rate_hint read_rate(const http_response& response, std::string_view message,
                    std::optional<timestamp> body_reset, timestamp now) {
  using namespace rate_reading;
  rate_hint r;
  const auto date = parse_http_date(trimmed(response.header("date")));
  r.limit = number(response.header("x-ratelimit-limit"));
  r.remaining = number(response.header("x-ratelimit-remaining"));
  r.used = number(response.header("x-ratelimit-used"));
  const auto resource = trimmed(response.header("x-ratelimit-resource"));
  r.resource = resource.substr(0, resource_bytes_max);
  const auto reset = body_reset ? body_reset : header_reset(response);
  if (reset) r.reset_at = now + distance(*reset, date, now);
  r.retry_after = retry_after(response, date, now);

  if (response.status == 403 || response.status == 429)
    r.kind = body_reset ? rate_kind::primary_limit : refusal(r, response.status, message);
  if (r.kind != rate_kind::none) {
    r.wait_until = now + refusal_wait(r, now);
  } else if (response.status >= 500 && r.retry_after) {
    r.wait_until = now + std::max(*r.retry_after, wait_min);
  } else if (is_low(r)) {
    r.kind = rate_kind::low_budget;
    r.wait_until = r.reset_at.value_or(now + rate_wait_unknown);
  }
  return r;
}

} // namespace sluice
