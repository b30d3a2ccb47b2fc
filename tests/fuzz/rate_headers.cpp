#include "rules/rate_headers.hpp"

#include "fuzz.hpp"

#include <array>

using namespace sluice;

/// One line each: a status, the values of the headers, a sentence, and the reset of a body.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto rest = fuzz::text_of(data, size);
  http_response response;
  response.status = std::atoi(std::string{fuzz::next_line(rest).substr(0, 8)}.c_str());
  for (const auto* name : {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
                           "X-RateLimit-Used", "X-RateLimit-Resource", "Retry-After", "Date"})
    response.headers.push_back({.name = name, .value = std::string{fuzz::next_line(rest)}});
  const auto message = fuzz::next_line(rest);
  std::optional<timestamp> body_reset;
  if (!rest.empty()) body_reset = from_millis(std::atoll(std::string{rest.substr(0, 24)}.c_str()));

  const timestamp now = from_millis(1'795'002'545'000);
  const auto r = read_rate(response, message, body_reset, now);
  const auto last = now + rate_wait_max;
  fuzz::require(r.wait_until == never || (r.wait_until >= now && r.wait_until <= last),
                "a wait is bounded");
  fuzz::require(!r.reset_at || (*r.reset_at >= now && *r.reset_at <= last), "a reset is bounded");
  fuzz::require(!r.retry_after || (*r.retry_after >= duration{} && *r.retry_after <= rate_wait_max),
                "retry-after is bounded");
  const bool limited = r.kind == rate_kind::primary_limit || r.kind == rate_kind::secondary_limit;
  fuzz::require(!limited || r.wait_until > now, "a refusal is never asked again at once");
  fuzz::require(!limited || response.status == 403 || response.status == 429,
                "only 403 and 429 are limits");
  return 0;
}
