#pragma once

#include "base/error.hpp"
#include "base/url.hpp"

#include <optional>
#include <string>
#include <string_view>

/// What cursors of lists over HTTP are made of: a path with a query, below the base URL
/// (`/repositories/1/pulls?page=2`), or a whole URL of the same origin where a path does not do.
namespace sluice::cursors {

/// The URL that `cursor` stands for. Refuses another origin than that of `base`, and user info
/// (S12).
[[nodiscard]] result<url> resolve(std::string_view base, std::string_view cursor);

/// The cursor for a next page that an answer from `page` names as `reference`. Refuses another
/// origin than that of `base`; the error names it.
[[nodiscard]] result<std::string> from_link(std::string_view base, std::string_view page,
                                            std::string_view reference);

/// The value of a query parameter as it is written; the first one of that name.
[[nodiscard]] std::optional<std::string_view> parameter(std::string_view cursor,
                                                        std::string_view name);

/// The cursor with that parameter set; `value` is escaped already.
[[nodiscard]] std::string with_parameter(std::string_view cursor, std::string_view name,
                                         std::string_view value);

} // namespace sluice::cursors
