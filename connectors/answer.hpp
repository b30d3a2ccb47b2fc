#pragma once

#include "connectors/connector.hpp"

/// What the answers of REST providers have in common.
namespace sluice::answers {

/// What people need to know about an answer: `GET https://host/path: 502: first bytes (request X)`.
/// Redacted, on one line, without the query. `sentence` stands in for the first bytes if there is
/// one.
[[nodiscard]] std::string describe(const http_response& response, std::string_view sentence = {});

/// An `errc::bad_input` that says what is wrong with the page in `response` (B28).
[[nodiscard]] error bad_page(const http_response& response, std::string_view what);

/// What status and headers say alone, as all providers mean them; `message` is the provider's
/// sentence and `body_reset` the reset that its body names.
[[nodiscard]] answer_verdict judge(const http_response& response, std::string_view message,
                                   std::optional<timestamp> body_reset, timestamp now);

/// Says why no item of the page is wanted: an empty list, or what filtered how many.
void explain_empty(list_page& page);

/// The number in a cursor's parameter halved, down to 25; nothing when it is smaller already.
[[nodiscard]] std::optional<std::uint32_t> half_page(std::string_view cursor,
                                                     std::string_view parameter);

} // namespace sluice::answers
