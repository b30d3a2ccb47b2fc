#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// A piece of a path or a query value with everything escaped that could end it.
[[nodiscard]] std::string percent_encode(std::string_view text);

enum class plus : bool { is_plus, is_space };

/// Nothing when an escape is cut short or not hexadecimal.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text,
                                                        plus p = plus::is_plus);

/// Only characters that RFC 3986 allows in a URL, and whole escapes.
[[nodiscard]] bool is_url_text(std::string_view text) noexcept;

} // namespace sluice
