#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// Whom a URL speaks to. Credentials never leave the origin that they were meant for (S12).
struct origin {
  std::string scheme; ///< `http` or `https`
  std::string host;   ///< lower case; IPv6 in brackets
  std::uint16_t port = 0;

  friend bool operator==(const origin&, const origin&) = default;
};

/// `localhost`, 127.0.0.0/8 or `[::1]`.
[[nodiscard]] bool is_loopback(const origin& o);

/// `https://host:port`, the port only where it is not the scheme's own.
[[nodiscard]] std::string to_string(const origin& o);

/// An absolute http or https URL, strictly as RFC 3986 has it; its host is a name of letters,
/// digits, `-`, `_` and `.`, four decimal numbers, or IPv6 in brackets. Other ways to write an
/// address
/// (`2130706433`, `0x7f.1`) are refused, so that no two readers can differ on whom it means. Scheme
/// and host are in lower case, the port is there only if it is not the scheme's own, the path is
/// never empty, the fragment is gone; path and query are as they were written.
class url {
public:
  /// `errc::bad_input` for anything else. The error never repeats the text: it may hold a secret.
  static result<url> parse(std::string_view text);

  [[nodiscard]] const origin& where() const noexcept { return origin_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] bool has_user_info() const noexcept { return has_user_info_; }

  /// For logs and errors: without user info and query (S7, S9).
  [[nodiscard]] const std::string& printable() const noexcept { return printable_; }

  /// What `reference` (a `Location` or `Link` header) means on a page with this URL.
  [[nodiscard]] result<url> resolve(std::string_view reference) const;

  /// This URL as a base with `path` below it: `https://ghe/api/v3/` and `/user?a=1` make
  /// `https://ghe/api/v3/user?a=1`. `path` is encoded already and may have a query; one with a `.`
  /// or
  /// `..` segment is refused, so that no name can climb out of the base.
  [[nodiscard]] result<url> join(std::string_view path) const;

private:
  url() = default;

  [[nodiscard]] std::string_view path() const noexcept;

  origin origin_;
  std::string text_;
  std::string printable_;
  bool has_user_info_ = false;
};

} // namespace sluice
