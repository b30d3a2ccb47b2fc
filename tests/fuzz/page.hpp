#pragma once

#include "base/json.hpp"
#include "base/json_mistake.hpp"
#include "connectors/connector.hpp"
#include "connectors/items.hpp"
#include "fuzz.hpp"

namespace fuzz {

/// Is this JSON, by a reader that knows nothing of simdjson? Long integers are.
inline bool is_json(std::string_view text) {
  const auto mistake = sluice::json::find_mistake(text);
  if (!mistake) return true;
  const std::string_view what = mistake->what;
  return what == "the integer has more than 64 bits" || what == "nested too deeply";
}

/// Judges and parses the answer as the first page of the unit, and checks what comes out.
inline void read_page(const sluice::connector& from, const sluice::unit_scope& scope,
                      const sluice::http_response& response) {
  const auto now = sluice::from_millis(1'795'002'545'000);
  const auto verdict = from.judge(response, now);
  require(verdict.detail.find('\n') == std::string::npos, "a detail is one line");
  const auto cursor = from.first_cursor(scope);
  require(static_cast<bool>(cursor), "the unit can be asked for");
  const auto page = from.parse(scope, *cursor, response);
  if (!page) {
    require(!sluice::detail_of(page.error()).empty(), "an error says something");
    return;
  }
  std::size_t wanted = 0;
  for (const auto& item : page->items) {
    const auto* end = response.body.data() + response.body.size();
    require(item.raw.data() >= response.body.data() && item.raw.data() + item.raw.size() <= end,
            "an item lies in the body");
    require(item.raw.starts_with('{') && item.raw.ends_with('}'), "an item is an object");
    require(is_json(item.raw), "an item is JSON");
    require(item.wanted == item.why_not.empty(), "what is filtered says why");
    wanted += item.wanted ? 1 : 0;
    std::string payload{"["};
    from.write_payload(payload, scope, item);
    payload += ']';
    require(payload.find(item.raw) != std::string::npos, "a payload holds its item");
    // A payload is a few levels deeper than its item.
    const auto again = sluice::read_items(payload, {});
    require(again || sluice::detail_of(again.error()).find("deep") != std::string::npos,
            "a payload is JSON");
  }
  require((wanted == 0) != page->why_empty.empty(), "an empty page says why");
  if (page->next) {
    const auto next = from.request(scope, *page->next);
    require(static_cast<bool>(next), "the next page can be asked for");
    require(next->url.starts_with(scope.base_url), "the next page stays with its host");
  }
}

/// What the DOM takes as a list of objects, the slicer takes too.
inline void compare_with_dom(const std::string& body, const sluice::page_shape& shape) {
  const auto dom = sluice::json::document::parse(body);
  if (!dom) return;
  auto list = std::optional{dom->root()};
  if (!shape.array.empty()) list = list->find(shape.array);
  if (!list) return;
  const auto items = list->items();
  if (!items || items->size() > sluice::page_items_max) return;
  for (const auto& item : *items)
    if (item.type() != sluice::json::cursor::kind::object) return;
  const auto page = sluice::read_items(body, shape);
  if (!page && sluice::detail_of(page.error()).find("is not one array") != std::string::npos)
    return; // twice the same member: the DOM takes the first one
  require(static_cast<bool>(page), "the slicer takes what the DOM takes");
  require(page->items.size() == items->size(), "as many items as the DOM");
}

} // namespace fuzz
