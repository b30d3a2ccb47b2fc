#pragma once

#include "base/error.hpp"
#include "messages/http.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// One link of a `Link` header: RFC 8288.
struct header_link {
  std::string target;    ///< as it stands between the brackets; may be relative
  std::string rel;       ///< in lower case; several names are separated by spaces
  bool anchored = false; ///< speaks of another page than the one that came with it

  friend bool operator==(const header_link&, const header_link&) = default;
};

/// All links of one header value. Strict: a text that is cut short or damaged is an error, because
/// to read it as "no next page" would lose the rest of a list.
[[nodiscard]] result<std::vector<header_link>> parse_links(std::string_view value);

/// The target of the link of that relation, over all `Link` headers. Two of them that differ are an
/// error.
[[nodiscard]] result<std::optional<std::string>> find_link(const http_response& response,
                                                           std::string_view rel);

} // namespace sluice
