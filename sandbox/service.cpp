#include "sandbox/service.hpp"

#include <algorithm>
#include <charconv>

namespace sluice::sandbox {

namespace faulty {

constexpr std::string_view html_page =
  "<!DOCTYPE html>\n<html><head><title>Unicorn!</title></head><body><h1>This page is taking too "
  "long to load.</h1><p>Sorry about that. Please try refreshing.</p></body></html>\n";

http::response server_error(std::uint64_t roll) {
  switch (roll % 3) {
  case 0:
    return json_answer(500, R"({"message":"Server Error"})");
  case 1: {
    auto r = json_answer(502, std::string{html_page});
    r.content_type = "text/html; charset=utf-8";
    return r;
  }
  default:
    return json_answer(503, R"({"message":"Service Unavailable"})");
  }
}

} // namespace faulty

std::string_view service_request::query(std::string_view name) const noexcept {
  for (const auto& [key, value] : asked.query) {
    if (key == name) return value;
  }
  return {};
}

http::response json_answer(int status, std::string body) {
  http::response r;
  r.status = status;
  r.body = std::move(body);
  r.content_type = "application/json; charset=utf-8";
  return r;
}

std::string_view bearer_of(const http::request& r) noexcept {
  auto value = r.header("Authorization");
  for (const std::string_view scheme : {"Bearer ", "bearer ", "token "}) {
    if (value.starts_with(scheme)) return value.substr(scheme.size());
  }
  return {};
}

std::uint32_t number_in(std::string_view text, std::uint32_t fallback,
                        std::uint32_t highest) noexcept {
  std::uint32_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc{} || stop != end || value == 0) return fallback;
  return std::min(value, highest);
}

void note_rate(ledger& book, const rate_answer& rate) {
  if (rate.exceeded || rate.too_early) book.counts.add(counter::rate_exceeded);
  auto highest = book.rate_window_max.load();
  while (rate.in_window > highest
         && !book.rate_window_max.compare_exchange_weak(highest, rate.in_window)) {
  }
}

http::response send_page(service_state& s, const outgoing_page& p, http::response whole) {
  const auto& faults = s.about().faults;
  auto hit = [&](double share, salt which) {
    return s.chance.hits(share, p.page_key, p.nth, static_cast<std::uint64_t>(which));
  };
  if (hit(faults.provider_errors, salt::provider_error)) {
    s.book.counts.add(counter::provider_faults);
    auto r = faulty::server_error(p.page_key + p.nth);
    r.headers = std::move(whole.headers);
    return r;
  }
  if (hit(faults.html, salt::html)) {
    s.book.counts.add(counter::provider_faults);
    whole.body = faulty::html_page;
    return whole;
  }
  if (hit(faults.truncated, salt::truncated)) {
    s.book.counts.add(counter::provider_faults);
    // Either the length that was promised does not come, or the body is cut and says so nowhere.
    if ((p.page_key + p.nth) % 2 == 0)
      whole.cut_after = whole.body.size() / 2;
    else
      whole.body.resize(whole.body.size() / 2);
    return whole;
  }
  s.book.served(p.list, p.content->items);
  const auto turn = s.book.fetches.went_out(p.list, p.page_key);
  if (faults.shift_every > 0 && turn % faults.shift_every == 0) {
    s.past.move(p.list, s.now());
    s.book.counts.add(counter::moves);
  }
  return whole;
}

} // namespace sluice::sandbox
