#include "base/redact.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace sluice {

namespace redaction {

constexpr std::string_view mask = "[redacted]";
constexpr std::size_t secret_bytes_min = 8;
constexpr std::size_t name_bytes_max = 64;
constexpr std::size_t bracket_bytes_max = 4096;
constexpr int passes_max = 8;
constexpr auto npos = std::string_view::npos;

/// Half open, in bytes of the text.
struct span {
  std::size_t from = 0;
  std::size_t to = 0;
};

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool is_alnum(char c) noexcept {
  return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}

constexpr bool is_name(char c) noexcept {
  return is_alnum(c) || c == '_' || c == '-' || c == '.';
}

constexpr bool is_one_of(char c, std::string_view set) noexcept {
  return set.find(c) != npos;
}

// -- values that we were told of ----------------------------------------------

class known_values {
public:
  void add(std::string_view value) {
    const std::unique_lock lock{mutex_};
    const auto at = std::ranges::lower_bound(values_, value);
    if (at == values_.end() || *at != value) values_.insert(at, std::string{value});
  }

  void find(std::string_view text, std::vector<span>& found) const {
    const std::shared_lock lock{mutex_};
    for (const auto& value : values_) {
      for (auto at = text.find(value); at != npos; at = text.find(value, at + 1))
        found.push_back({at, at + value.size()});
    }
  }

private:
  mutable std::shared_mutex mutex_;
  std::vector<std::string> values_;
};

/// Never destroyed: the last log line may come after `main`.
known_values& known() {
  static auto* const values = new known_values;
  return *values;
}

std::string percent_encoded(std::string_view value) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string text;
  for (const char c : value) {
    if (is_name(c) || c == '~') {
      text += c;
      continue;
    }
    text += '%';
    text += hex[static_cast<unsigned char>(c) >> 4];
    text += hex[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// -- where a value ends -------------------------------------------------------

/// Does a quote after `slashes` backslashes end a text that began with a quote after `opened` of
/// them? JSON inside a JSON string has one backslash before each quote, one level deeper three.
constexpr bool closes(std::size_t slashes, std::size_t opened) noexcept {
  if (slashes % 2 == 0) return true;
  return opened != 0 && closes((slashes - 1) / 2, (opened - 1) / 2);
}

std::size_t quoted_end(std::string_view text, std::size_t from, char quote, std::size_t opened) {
  std::size_t slashes = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++slashes;
      continue;
    }
    if (text[i] == quote && closes(slashes, opened)) return i - std::min(slashes, opened);
    slashes = 0;
  }
  return text.size();
}

/// The end of the array or object at `from`; what is not closed soon goes on to the end.
std::size_t bracket_end(std::string_view text, std::size_t from) {
  std::size_t depth = 0;
  const std::size_t last = std::min(text.size(), from + bracket_bytes_max);
  for (std::size_t i = from; i < last; ++i) {
    if (text[i] == '"') {
      i = quoted_end(text, i + 1, '"', 0);
    } else if (is_one_of(text[i], "[{")) {
      ++depth;
    } else if (is_one_of(text[i], "]}") && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

/// The value at `from`: quoted, in brackets, or up to what ends a word. Without its quotes.
span value_at(std::string_view text, std::size_t from) {
  std::size_t quote = from;
  while (quote < text.size() && text[quote] == '\\')
    ++quote;
  if (quote < text.size() && is_one_of(text[quote], "\"'"))
    return {quote + 1, quoted_end(text, quote + 1, text[quote], quote - from)};
  std::size_t to = from;
  if (to < text.size() && is_one_of(text[to], "[{")) to = bracket_end(text, to);
  while (to < text.size() && !is_one_of(text[to], " \t\r\n\"'\\,;&#)]}<>"))
    ++to;
  return {from, to};
}

// -- what looks like a secret -------------------------------------------------

constexpr std::array<std::string_view, 8> token_prefixes{
  "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "gldt-",
};

void find_tokens(std::string_view text, std::vector<span>& found) {
  for (auto at = text.find('g'); at != npos; at = text.find('g', at + 1)) {
    const auto rest = text.substr(at);
    for (const auto prefix : token_prefixes) {
      if (!rest.starts_with(prefix)) continue;
      std::size_t to = at + prefix.size();
      while (to < text.size() && is_name(text[to]))
        ++to;
      if (to > at + prefix.size()) found.push_back({at, to});
    }
  }
}

bool starts_with_word(std::string_view text, std::string_view word) noexcept {
  return text.size() >= word.size()
         && std::ranges::equal(text.substr(0, word.size()), word, {}, lower);
}

void find_bearers(std::string_view text, std::vector<span>& found) {
  constexpr std::string_view word = "bearer";
  for (std::size_t i = 0; i + word.size() < text.size(); ++i) {
    if (lower(text[i]) != 'b' || !starts_with_word(text.substr(i), word)) continue;
    std::size_t from = i + word.size();
    if (!is_one_of(text[from], " \t")) continue;
    while (from < text.size() && is_one_of(text[from], " \t"))
      ++from;
    const auto value = value_at(text, from);
    if (value.from < value.to) found.push_back(value);
    i = std::max(value.to, from) - 1;
  }
}

/// `scheme://user:password@host`
void find_user_info(std::string_view text, std::vector<span>& found) {
  for (auto at = text.find("://"); at != npos; at = text.find("://", at + 3)) {
    const auto from = at + 3;
    const auto authority = text.substr(from, text.find_first_of("/?# \t\r\n\"<>\\`", from) - from);
    const auto sign = authority.rfind('@');
    if (sign != npos && sign != 0) found.push_back({from, from + sign});
  }
}

// -- names whose values are secret --------------------------------------------

/// Lower case, without what separates words: `X-Api-Key` and `xApiKey` are the same name.
class folded_name {
public:
  explicit folded_name(std::string_view name) noexcept {
    if (name.size() > name_bytes_max) name = name.substr(name.size() - name_bytes_max);
    for (const char c : name) {
      if (is_alnum(c)) bytes_[size_++] = lower(c);
    }
  }
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data(), size_}; }

private:
  std::array<char, name_bytes_max> bytes_{};
  std::size_t size_ = 0;
};

constexpr std::array<std::string_view, 13> secret_endings{
  "token",     "secret",    "password",   "passwd",     "passphrase",  "apikey",       "accesskey",
  "secretkey", "signature", "privatekey", "credential", "credentials", "signature256",
};
constexpr std::array<std::string_view, 6> secret_words{"pwd",       "jwt",  "sig",
                                                       "sessionid", "auth", "signingkey"};
/// Ordinary words in our own text, but secret in what comes from elsewhere (S9).
constexpr std::array<std::string_view, 2> secret_elsewhere{"key", "code"};

/// Headers whose value is the rest of the line: `Basic dXNlcg==`, `a=1; b=2`.
bool is_secret_line(std::string_view folded) noexcept {
  return folded.ends_with("authorization") || folded.ends_with("cookie")
         || folded.starts_with("proxyauth");
}

bool is_secret_folded(std::string_view folded) noexcept {
  const auto ends = [folded](std::string_view ending) { return folded.ends_with(ending); };
  return is_secret_line(folded) || std::ranges::any_of(secret_endings, ends)
         || std::ranges::find(secret_words, folded) != secret_words.end();
}

/// A name in front of `:` or `=`.
struct named {
  std::string_view name;
  bool quoted = false;
  bool in_query = false;
};

named name_before(std::string_view text, std::size_t separator) {
  std::size_t to = separator;
  while (to > 0 && is_one_of(text[to - 1], " \t"))
    --to;
  named found;
  if (to > 0 && is_one_of(text[to - 1], "\"'")) {
    found.quoted = true;
    --to;
    while (to > 0 && text[to - 1] == '\\')
      --to;
  }
  std::size_t from = to;
  while (from > 0 && is_name(text[from - 1]))
    --from;
  found.name = text.substr(from, to - from);
  found.in_query = from > 0 && is_one_of(text[from - 1], "?&");
  return found;
}

/// The value that belongs to the separator at `at`; empty when it is none that must be hidden.
span secret_after(std::string_view text, std::size_t at) {
  const named n = name_before(text, at);
  if (n.name.empty()) return {};
  const folded_name folded{n.name};
  std::size_t from = at + 1;
  while (from < text.size() && is_one_of(text[from], n.quoted ? " \t\r\n" : " \t"))
    ++from;
  const auto value = value_at(text, from);
  const bool value_quoted = value.from != from;
  if (is_secret_folded(folded.text())) {
    if (value_quoted || !is_secret_line(folded.text())) return value;
    return n.quoted ? value : span{from, std::min(text.find_first_of("\r\n", from), text.size())};
  }
  const bool elsewhere = (n.quoted && value_quoted) || (n.in_query && text[at] == '=');
  if (elsewhere && std::ranges::find(secret_elsewhere, folded.text()) != secret_elsewhere.end())
    return value;
  return {};
}

void find_named(std::string_view text, std::vector<span>& found) {
  // Names inside of a value that was found count too: where that value ends is a guess.
  for (auto at = text.find_first_of(":="); at != npos; at = text.find_first_of(":=", at + 1)) {
    const auto value = secret_after(text, at);
    if (value.from >= value.to) continue;
    const auto word = text.substr(value.from, value.to - value.from);
    if (word == "null" || word == "true" || word == "false") continue;
    found.push_back(value);
    if (value.to == text.size()) return;
  }
}

std::string cover(std::string_view text, std::vector<span>& found) {
  std::ranges::sort(found, {}, &span::from);
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < found.size();) {
    auto [from, to] = found[i];
    // What overlaps or touches is one secret: the rest of a longer one must not show.
    for (++i; i < found.size() && found[i].from <= to; ++i)
      to = std::max(to, found[i].to);
    out.append(text, at, from - at).append(mask);
    at = to;
  }
  out.append(text, at);
  return out;
}

std::string one_pass(std::string_view text) {
  std::vector<span> found;
  known().find(text, found);
  find_tokens(text, found);
  find_bearers(text, found);
  find_user_info(text, found);
  find_named(text, found);
  return cover(text, found);
}

} // namespace redaction

std::string redact(std::string_view text) {
  // A mask may have taken the quote that ended another value. Each pass hides more or nothing.
  std::string before{text};
  for (int pass = 0; pass < redaction::passes_max; ++pass) {
    auto after = redaction::one_pass(before);
    if (after == before) return after;
    before = std::move(after);
  }
  return std::string{redaction::mask};
}

bool is_secret_name(std::string_view name) noexcept {
  return redaction::is_secret_folded(redaction::folded_name{name}.text());
}

void keep_secret(std::string_view value) {
  // The mask must not be eaten, or `redact` would not be idempotent.
  if (value.size() < redaction::secret_bytes_min
      || redaction::mask.find(value) != std::string::npos)
    return;
  const auto escaped = json::quoted(value);
  redaction::known().add(value);
  redaction::known().add(std::string_view{escaped}.substr(1, escaped.size() - 2));
  redaction::known().add(redaction::percent_encoded(value));
}

} // namespace sluice
