#include "connectors/answer.hpp"

#include "base/json.hpp"
#include "base/redact.hpp"
#include "base/url.hpp"
#include "connectors/cursor.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace sluice::answers {

namespace {

constexpr std::size_t shown_bytes = 200;
/// Redaction sees more than is shown, so that no secret is cut before it is known as one.
constexpr std::size_t read_bytes = 4096;
constexpr std::uint32_t page_size_min = 25;

/// Without control characters and broken UTF-8, at most so long.
std::string shown(std::string_view text) {
  auto safe = redact(text.substr(0, read_bytes));
  const bool cut = safe.size() > shown_bytes || text.size() > read_bytes;
  if (safe.size() > shown_bytes) safe.resize(shown_bytes);
  for (char& c : safe) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  auto quoted = json::quoted(safe);
  return cut ? quoted + "…" : quoted;
}

std::string_view request_id(const http_response& response) noexcept {
  for (const auto* name : {"x-github-request-id", "x-vercel-id", "x-request-id"}) {
    if (const auto id = response.header(name); !id.empty()) return id;
  }
  return {};
}

answer_kind kind_of(const http_response& response, const rate_hint& rate) noexcept {
  const int status = response.status;
  if (!response.error.empty()) {
    if (response.too_large) return answer_kind::malformed;
    return status >= 300 && status < 400 ? answer_kind::refused : answer_kind::transient;
  }
  if (rate.kind == rate_kind::primary_limit || rate.kind == rate_kind::secondary_limit)
    return answer_kind::limited;
  switch (status) {
  case 200:
  case 204:
    return answer_kind::page;
  case 401:
    return answer_kind::unauthorized;
  case 403:
    return answer_kind::forbidden;
  case 404:
  case 410:
  case 451:
    return answer_kind::gone;
  case 408:
  case 425:
    return answer_kind::transient;
  default:
    if (status >= 500) return answer_kind::transient;
    return status >= 300 ? answer_kind::refused : answer_kind::malformed;
  }
}

} // namespace

std::string describe(const http_response& response, std::string_view sentence) {
  const auto to = url::parse(response.final_url);
  std::string text{to ? "GET " + to->printable() : "GET"};
  if (!response.error.empty()) {
    // The client's own sentence names the URL.
    text = redact(response.error);
  } else {
    text += ": " + std::to_string(response.status);
    if (!sentence.empty() || !response.body.empty())
      text += ": " + shown(sentence.empty() ? response.body : sentence);
    else
      text += ", no body";
  }
  if (const auto id = request_id(response); !id.empty()) text += " (request " + shown(id) + ")";
  return text;
}

error bad_page(const http_response& response, std::string_view what) {
  return make_error(errc::bad_input, std::string{what} + "; " + describe(response));
}

answer_verdict judge(const http_response& response, std::string_view message,
                     std::optional<timestamp> body_reset, timestamp now) {
  answer_verdict v;
  v.rate = read_rate(response, message, body_reset, now);
  v.kind = kind_of(response, v.rate);
  if (v.kind != answer_kind::page) v.detail = describe(response, message);
  v.smaller_page =
    response.timed_out || response.too_large || response.status == 502 || response.status == 504;
  return v;
}

void explain_empty(list_page& page) {
  if (std::ranges::any_of(page.items, &page_item::wanted)) return;
  if (page.items.empty()) {
    page.why_empty = "the list is empty";
    return;
  }
  std::map<std::string_view, std::size_t> counts;
  for (const auto& item : page.items)
    ++counts[item.why_not];
  page.why_empty = "all " + std::to_string(page.items.size()) + " items are filtered";
  for (auto lead = ": "; const auto& [why, count] : counts) {
    page.why_empty.append(lead).append(std::to_string(count)).append(" ").append(why);
    lead = ", ";
  }
}

std::optional<std::uint32_t> half_page(std::string_view cursor, std::string_view parameter) {
  const auto text = cursors::parameter(cursor, parameter);
  std::uint32_t size = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), size).ec != std::errc{})
    return std::nullopt;
  if (size / 2 < page_size_min) return std::nullopt;
  return size / 2;
}

} // namespace sluice::answers
