#pragma once

#include "http/url.hpp"
#include "messages/http.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// What the client's end decides before it sends and after it was answered: no sockets, no clock.
namespace sluice::http {

/// More redirects than this are never followed (S12).
inline constexpr std::uint32_t redirect_limit = 3;

/// Why this request cannot be sent to `at`; empty when it can. Never repeats a header or the URL.
[[nodiscard]] std::string unsendable(const http_request& r, const result<url>& at);

/// The answer stands as it is.
struct take_answer {};
/// The answer redirects to where we do not go; `why` is for people.
struct refuse_redirect {
  std::string why;
};
using next_hop = std::variant<take_answer, url, refuse_redirect>;

/// Where the answer to `r` from `at` leads, after `redirects` that were followed: within the same
/// origin only, for GET and HEAD only, and not at all when `redirects_max` is 0 (S12).
[[nodiscard]] next_hop after_answer(const http_request& r, const url& at,
                                    const http_response& answer, std::uint32_t redirects);

/// `GET https://host/path: what`, without user info and query (S7).
[[nodiscard]] std::string about(const http_request& r, const std::optional<url>& at,
                                std::string_view what);

} // namespace sluice::http
