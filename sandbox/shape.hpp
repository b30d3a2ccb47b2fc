#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::sandbox {

/// JSON text with places to fill in, `@name@`, cut into pieces once and filled many times. Line
/// ends and the spaces that follow them are no part of it, so that its source can be indented.
class shape {
public:
  /// `names` are the places that it may have; their order is that of the values.
  shape(std::string_view text, std::span<const std::string_view> names);

  /// Appends the text with `values` in their places, as they are.
  void fill(std::string& out, std::span<const std::string_view> values) const;

private:
  struct piece {
    std::string text;
    std::size_t place; ///< what follows the text; npos: nothing
  };
  std::vector<piece> pieces_;
};

} // namespace sluice::sandbox
