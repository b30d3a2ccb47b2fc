#include "rules/delivery.hpp"

#include "base/time_text.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {

namespace delivering {

std::optional<int> number(std::string_view text) noexcept {
  int n = 0;
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, n);
  if (read.ec != std::errc{} || read.ptr != end || n < 0) return std::nullopt;
  return n;
}

} // namespace delivering

delivery_verdict judge(const http_response& answer) noexcept {
  const auto status = answer.status;
  if (!answer.error.empty() || status < 200) return delivery_verdict::failed;
  if (status < 300 || status == 409) return delivery_verdict::accepted;
  switch (status) {
  case 401:
    return delivery_verdict::unauthorized;
  case 429:
    return delivery_verdict::limited;
  case 408:
  case 425:
    return delivery_verdict::failed;
  default:
    // A redirect is not followed: a POST must not be sent to where nobody asked for it.
    return status >= 400 && status < 500 ? delivery_verdict::refused : delivery_verdict::failed;
  }
}

std::optional<duration> asked_pause(const http_response& answer, timestamp now) {
  if (answer.status != 429 && answer.status != 503) return std::nullopt;
  const auto text = answer.header("Retry-After");
  if (text.empty()) return std::nullopt;
  if (text.find_first_not_of("0123456789") == std::string_view::npos) {
    const auto seconds = delivering::number(text);
    if (!seconds) return retry_after_max; // more than fits
    return std::min<duration>(std::chrono::seconds{*seconds}, retry_after_max);
  }
  const auto at = parse_http_date(text);
  if (!at) return std::nullopt;
  return std::clamp(*at - now, duration::zero(), retry_after_max);
}

delivery_decision after_delivery(delivery_verdict verdict, delivery_tries& tries,
                                 const delivery_moment& at, const delivery_config& config,
                                 std::uint64_t entropy) noexcept {
  switch (verdict) {
  case delivery_verdict::accepted:
    return {};
  case delivery_verdict::refused:
    if (++tries.refusals >= config.refusals_max) return {delivery_next::give_up};
    break;
  case delivery_verdict::failed:
    tries.suspect = tries.suspect || (tries.failures != 0 && at.accepted > tries.seen);
    tries.seen = at.accepted;
    if ((at.circuit_closed || tries.suspect) && ++tries.failures >= config.failures_max)
      return {delivery_next::give_up};
    break;
  case delivery_verdict::limited:
  case delivery_verdict::unauthorized:
    break;
  }
  const auto attempt = std::min<std::uint32_t>(tries.sent == 0 ? 0 : tries.sent - 1U, 20);
  return {delivery_next::again, at.now + backoff(config.pause, attempt, entropy)};
}

} // namespace sluice
