#include "connectors/link_header.hpp"

#include "connectors/cursor.hpp"
#include "fuzz.hpp"

using namespace sluice;

/// The whole input is a header value. What is read can be followed or refused, never to another
/// host.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = fuzz::text_of(data, size);
  const auto links = parse_links(value);
  http_response response;
  response.headers = {{.name = "Link", .value = std::string{value}}};
  const auto next = find_link(response, "next");
  fuzz::require(links || !next, "a broken header has no next page");
  if (!next || !*next) return 0;
  for (const auto* base : {"https://api.github.com", "http://127.0.0.1:9/a/b/"}) {
    const auto cursor = cursors::from_link(base, "", **next);
    if (!cursor) continue;
    const auto back = cursors::resolve(base, *cursor);
    fuzz::require(static_cast<bool>(back), "a cursor that was made can be asked");
    fuzz::require(back->where() == url::parse(base)->where(), "a cursor stays with its host");
    for (const auto* name : {"page", "per_page"}) {
      const auto changed = cursors::with_parameter(*cursor, name, "7");
      fuzz::require(cursors::parameter(changed, name) == "7", "a parameter that was set is there");
    }
  }
  return 0;
}
