#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What a member of an item holds.
struct field_value {
  enum class kind : std::uint8_t { absent, null, boolean, number, string, array, object };

  kind type = kind::absent;
  /// A string without its escapes; a number or boolean as it is written; else empty.
  std::string text{};

  [[nodiscard]] bool is_string() const noexcept { return type == kind::string; }
  [[nodiscard]] bool is_true() const noexcept { return type == kind::boolean && text == "true"; }
  /// There, and not `null`.
  [[nodiscard]] bool is_set() const noexcept { return type != kind::absent && type != kind::null; }
  /// The value of a whole number that is not negative and fits.
  [[nodiscard]] std::optional<std::uint64_t> integer() const noexcept;
};

/// What is asked of a page.
struct page_shape {
  /// The member of the document that holds the items; empty: the document itself is the array.
  std::string_view array{};
  /// Other members of the document to keep as raw JSON.
  std::vector<std::string_view> members{};
  /// The members to read of each item.
  std::vector<std::string_view> fields{};
};

struct raw_item {
  std::string_view raw;            ///< `{ … }`, byte for byte
  std::vector<field_value> fields; ///< in the order of the shape
};

struct raw_page {
  std::vector<raw_item> items;
  std::vector<std::string_view> members; ///< raw JSON in the order of the shape; empty: absent
};

/// Items that one page may have, and how deep they may nest (S13).
inline constexpr std::size_t page_items_max = 10'000;
inline constexpr std::size_t page_depth_max = 64;

/// Slices `body` into its items. Every item is read to its leaves: what comes out is JSON by RFC
/// 8259, in UTF-8, with escapes that mean something. Numbers are checked by their grammar alone, so
/// that one of any length passes. All views point into `body`.
///
/// Fails with `errc::bad_input` and a sentence: which item, what, at which byte.
[[nodiscard]] result<raw_page> read_items(const std::string& body, const page_shape& shape);

} // namespace sluice
