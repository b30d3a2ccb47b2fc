#pragma once

#include "base/error.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"
#include "messages/http.hpp"
#include "rules/rate_headers.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// One unit of a backfill as a connector sees it: one entity type of one resource.
struct unit_scope {
  std::string installation;    ///< the gateway's id of the connection
  std::string external_id{};   ///< the provider's id of the team or account
  std::string resource_id;     ///< the provider's id of the repository or project
  std::string resource_name{}; ///< `owner/name` where there is such a name, else empty
  std::string entity;          ///< one of `connector::entities`
  timestamp since{};           ///< the window: items with a time of `since` or later
  std::string base_url{};      ///< may have a path and end in a slash; empty: the provider's own
};

/// One item of a page. `raw` points into the body of the response.
struct page_item {
  std::string_view raw;       ///< the item as it came, byte for byte, without space around it
  std::string key;            ///< the provider's number or id of it within its resource
  std::string id;             ///< the delivery id (B19)
  timestamp time{};           ///< the one that the window is about (60-surface.md)
  std::string event_type;     ///< as the provider's webhook has it
  std::string action;         ///< the webhook's action that fits the item's state; may be empty
  bool wanted = true;         ///< false: filtered, `why_not` says why
  std::string_view why_not{}; ///< a literal: "outside the window", "a pull request", "a draft" …
};

struct list_page {
  std::vector<page_item> items;
  /// Where the list goes on; nothing at its end, and when the rest is older than the window.
  std::optional<std::string> next;
  bool window_ended = false; ///< it ended because the rest is older than the window
  std::string why_empty{};   ///< for people, when no item is wanted
};

/// What an answer is. Only `limited` and `transient` are worth another try without a person, and
/// `unauthorized` once, with a fresh token.
enum class answer_kind : std::uint8_t {
  page,         ///< `parse` may read it
  unauthorized, ///< the token is not, or no longer, valid
  limited,      ///< `rate.wait_until` says until when
  gone,         ///< no such resource, or none that this token sees (404, 410, 451)
  forbidden,    ///< the token lacks a permission, or a policy forbids it
  transient,    ///< the network, a time-out, a 5xx; where `smaller_page`, ask for less
  malformed,    ///< larger than we read, or a status that makes no sense here
  wall,         ///< the list cannot be read this deep (422)
  refused,      ///< any other 4xx, or a redirect that we do not follow: our request is wrong
};

[[nodiscard]] std::string_view to_string(answer_kind kind) noexcept;

struct answer_verdict {
  answer_kind kind = answer_kind::page;
  rate_hint rate{};
  /// For people: the URL without query, the status, the provider's sentence or the first bytes,
  /// its request id; redacted. Empty for a page.
  std::string detail{};
  bool smaller_page = false; ///< `connector::smaller` may help
};

/// How a list is sorted, which decides how it is read again at its end (B25).
enum class list_order : std::uint8_t { by_update, by_creation };

/// What knows a provider: pure translation between units and HTTP. No sockets, no clock, no state;
/// one object serves all threads.
///
/// A cursor is a place in a list. It is opaque, holds no secret, fits in the journal and stays
/// valid when the base URL changes; a list begins at `first_cursor`, and every cursor can be asked
/// again.
class connector {
public:
  virtual ~connector() = default;

  /// The name in connections and paths: `github`.
  [[nodiscard]] virtual std::string_view provider() const = 0;
  [[nodiscard]] virtual std::string_view default_base_url() const = 0;
  /// What a backfill takes when nothing is said, in this order.
  [[nodiscard]] virtual std::vector<std::string> entities() const = 0;
  /// Any one of these scopes lets a token read the entity.
  [[nodiscard]] virtual std::vector<std::string> scopes(std::string_view entity) const = 0;
  [[nodiscard]] virtual list_order order(std::string_view entity) const = 0;
  /// The budget that requests for the entity use: limits hold per credential and bucket.
  [[nodiscard]] virtual std::string rate_bucket(std::string_view entity) const = 0;

  /// Where the list of the unit begins. Fails when the scope cannot be asked for.
  [[nodiscard]] virtual result<std::string> first_cursor(const unit_scope& scope) const = 0;
  /// The same place with a smaller page, for lists that time out; nothing when it is the smallest.
  /// Items at the edge may come twice.
  [[nodiscard]] virtual std::optional<std::string> smaller(const std::string& cursor) const = 0;
  /// The request for the page at `cursor`, without the token. A cursor that leads to another origin
  /// than the base URL's is refused (S12).
  [[nodiscard]] virtual result<http_request> request(const unit_scope& scope,
                                                     const std::string& cursor) const = 0;
  /// Adds the token, as a header that leaves for no other origin.
  virtual void authorize(http_request& request, const secret& token) const;

  /// What the answer is and what its limits ask for.
  [[nodiscard]] virtual answer_verdict judge(const http_response& response,
                                             timestamp now) const = 0;
  /// The items of the page at `cursor`; views into `response.body`, which must outlive them. An
  /// error (`errc::bad_input`) says what is wrong with the page, with URL, status and first bytes;
  /// the page is taken whole or not at all (B28).
  [[nodiscard]] virtual result<list_page> parse(const unit_scope& scope, const std::string& cursor,
                                                const http_response& response) const = 0;
  /// Appends the payload of the item as the provider's webhook would have it: the item byte for
  /// byte under its usual name, its repository or project beside it (B26).
  virtual void write_payload(std::string& out, const unit_scope& scope,
                             const page_item& item) const = 0;
};

/// Does a connection with these scopes let us read the entity (B4)?
[[nodiscard]] bool has_scope(const connector& c, std::string_view entity,
                             const std::vector<std::string>& granted);

} // namespace sluice
