#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Replaces what must not be read by people: tokens of known shape (GitHub, GitLab, Bearer), URLs'
/// user info, values of keys such as `authorization`, `token`, `password` in JSON, query strings
/// and `key=value` text, and every value given to `keep_secret` (X9, S9). Idempotent.
[[nodiscard]] std::string redact(std::string_view text);

/// Is the value of a field of this name secret by its name alone?
[[nodiscard]] bool is_secret_name(std::string_view name) noexcept;

/// From now on `redact` replaces this very value, wherever it stands. Thread-safe. Values shorter
/// than 8 characters are not taken: they would eat ordinary words.
void keep_secret(std::string_view value);

} // namespace sluice
