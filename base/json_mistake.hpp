#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice::json {

/// Nesting that `document::parse` accepts (S13). Empty arrays and objects do not count.
inline constexpr std::size_t depth_max = 64;

/// Where a text stops being JSON. Line and column count from 1, the column in bytes.
struct mistake {
  std::size_t line = 1;
  std::size_t column = 1;
  const char* what = "";
};

/// Reads `text` slowly and says where its first mistake is: simdjson, which refused it, cannot.
/// Nothing when this reader finds none.
[[nodiscard]] std::optional<mistake> find_mistake(std::string_view text);

} // namespace sluice::json
