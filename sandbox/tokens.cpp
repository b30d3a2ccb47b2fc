#include "sandbox/tokens.hpp"

#include <charconv>

namespace sluice::sandbox {

namespace token_text {

// `ghs_conn-1.{end, 16 hex digits}.{serial, 16}.{mark, 16}`
constexpr std::size_t tail = 3 * 17;

std::string_view prefix_of(provider p) {
  return p == provider::github ? "ghs_" : "vca_";
}

} // namespace token_text

std::string tokens::mark(std::string_view unmarked) const {
  return to_hex(hash64(unmarked, world_.about().seed + 5));
}

std::string tokens::issue(connection_ref c, timestamp now) {
  const auto end = static_cast<std::uint64_t>(to_millis(now + world_.about().token_ttl));
  auto text = std::string{token_text::prefix_of(c.from)} + world_.id_of(c) + "." + to_hex(end) + "."
              + to_hex(++serial_);
  return text + "." + mark(text);
}

std::optional<connection_ref> tokens::owner_of(std::string_view token, provider p,
                                               timestamp now) const {
  const auto prefix = token_text::prefix_of(p);
  if (!token.starts_with(prefix) || token.size() <= prefix.size() + token_text::tail)
    return std::nullopt;
  const auto unmarked = token.substr(0, token.size() - 17);
  if (token.substr(unmarked.size()) != "." + mark(unmarked)) return std::nullopt;
  const auto tail = token.substr(token.size() - token_text::tail);
  std::uint64_t end = 0;
  std::from_chars(tail.data() + 1, tail.data() + 17, end, 16);
  if (static_cast<std::uint64_t>(to_millis(now)) >= end) return std::nullopt;
  const auto id = token.substr(prefix.size());
  return world_.connection(id.substr(0, id.size() - token_text::tail));
}

} // namespace sluice::sandbox
