#include "http/outgoing.hpp"

#include <algorithm>

namespace sluice::http {

namespace {

bool is_token(std::string_view text) {
  constexpr std::string_view separators = "()<>@,;:\\\"/[]?={}";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return c > 0x20 && c < 0x7f && separators.find(c) == separators.npos;
  });
}

bool fits_a_line(std::string_view text) {
  return text.find_first_of(std::string_view{"\r\n\0", 3}) == text.npos;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

} // namespace

std::string unsendable(const http_request& r, const result<url>& at) {
  if (!at) return "the URL is refused: " + detail_of(at.error());
  if (at->has_user_info()) return "the URL is refused: user info belongs into a header";
  if (!is_token(r.method)) return "the method is not a token";
  for (const auto& h : r.headers) {
    if (!is_token(h.name) || !fits_a_line(h.value)) return "a header is malformed";
  }
  return {};
}

next_hop after_answer(const http_request& r, const url& at, const http_response& answer,
                      std::uint32_t redirects) {
  const auto location = answer.header("Location");
  const auto max = std::min(r.redirects_max, redirect_limit);
  const bool safe = r.method == "GET" || r.method == "HEAD";
  if (!is_redirect(answer.status) || location.empty() || max == 0 || !safe) return take_answer{};
  auto to = at.resolve(location);
  if (!to || to->has_user_info()) {
    return refuse_redirect{"the answer redirects to something that is not a plain URL"};
  }
  if (to->where() != at.where()) {
    return refuse_redirect{"refused a redirect to another origin, " + to_string(to->where())};
  }
  if (redirects >= max) return refuse_redirect{"more than " + std::to_string(max) + " redirects"};
  return std::move(*to);
}

std::string about(const http_request& r, const std::optional<url>& at, std::string_view what) {
  const bool named = is_token(r.method);
  return (named ? r.method : "(no method)") + " " + (at ? at->printable() : "(no URL)") + ": "
         + std::string{what};
}

} // namespace sluice::http
