#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace sluice::sandbox {

/// An event as it is posted to the gateway. Everything points into the body.
struct envelope {
  std::string_view connection; ///< texts are what stands between the quotes, escapes and all
  std::string_view org;
  std::string_view delivery;
  std::string_view event_type;
  std::string_view received_at; ///< digits
  std::string_view item;        ///< the value of `pull_request`, `issue`, `release` or `deployment`
  std::string_view item_key;
};

/// Reads `{connectionId, orgId, deliveryId, eventType, payload, receivedAt}` without building a
/// tree: members in any order, unknown ones are skipped, nesting and strings are checked, numbers
/// and literals only roughly. Nothing when the text is no such object.
///
/// An item need not be walked through when its length is known: `length_of(delivery)` says so, 0
/// for unknown. If the text goes on behind that many bytes as it must behind an item, they are
/// taken for the item; whether they are is for a hash to say, and `read_envelope(body)` finds its
/// true end.
[[nodiscard]] std::optional<envelope>
read_envelope(std::string_view body, const std::function<std::size_t(std::string_view)>& length_of);
[[nodiscard]] std::optional<envelope> read_envelope(std::string_view body);

} // namespace sluice::sandbox
