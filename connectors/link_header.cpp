#include "connectors/link_header.hpp"

#include <algorithm>

namespace sluice {

namespace linking {

/// S13 allows 16 KiB of headers; GitHub sends four links.
constexpr std::size_t value_bytes_max = 16UL * 1024;
constexpr std::size_t links_max = 64;

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

std::string lowered(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), lower);
  return out;
}

constexpr bool is_token(char c) noexcept {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9')
         || std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

error broken(std::string_view what) {
  return make_error(errc::bad_input, "the Link header is broken: " + std::string{what});
}

class reader {
public:
  explicit reader(std::string_view text) noexcept : rest_{text} {}

  void space() noexcept {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }

  bool accept(char c) noexcept {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }

  /// Up to `end`, which is passed over; nothing when it never comes.
  std::optional<std::string_view> until(char end) noexcept {
    const auto at = rest_.find(end);
    if (at == rest_.npos) return std::nullopt;
    const auto found = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    return found;
  }

  std::string_view token() noexcept {
    const auto end = std::ranges::find_if_not(rest_, is_token);
    const auto found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(found.size());
    return found;
  }

  /// Behind the opening quote; nothing when the closing one is missing.
  std::optional<std::string> quoted() {
    std::string text;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return text;
      if (c == '\\') {
        if (rest_.empty()) return std::nullopt;
        text += rest_.front();
        rest_.remove_prefix(1);
      } else {
        text += c;
      }
    }
    return std::nullopt;
  }

private:
  std::string_view rest_;
};

/// `; name=value` pairs behind a target. Of several `rel` the first one counts (RFC 8288, 3.3).
error parameters(reader& r, header_link& link) {
  bool has_rel = false;
  for (r.space(); r.accept(';'); r.space()) {
    r.space();
    const auto name = lowered(r.token());
    r.space();
    // An empty parameter (`;;`) is allowed by 8288's own parsing algorithm.
    if (name.empty()) continue;
    std::string value;
    if (r.accept('=')) {
      r.space();
      if (r.accept('"')) {
        auto text = r.quoted();
        if (!text) return broken("a quote is not closed");
        value = std::move(*text);
      } else {
        value = r.token();
      }
    }
    if (name == "anchor") link.anchored = true;
    if (name == "rel" && !has_rel) {
      has_rel = true;
      link.rel = lowered(value);
    }
  }
  return {};
}

bool has_name(std::string_view rel, std::string_view name) noexcept {
  while (!rel.empty()) {
    const auto word = rel.substr(0, rel.find_first_of(" \t"));
    if (word == name) return true;
    rel.remove_prefix(std::min(rel.size(), word.size() + 1));
  }
  return false;
}

} // namespace linking

result<std::vector<header_link>> parse_links(std::string_view value) {
  using namespace linking;
  if (value.size() > value_bytes_max) return broken("it is too long");
  std::vector<header_link> links;
  reader r{value};
  for (r.space(); !r.done(); r.space()) {
    if (r.accept(',')) continue; // empty members of a list are allowed
    if (links.size() == links_max) return broken("it has too many links");
    if (!r.accept('<')) return broken("expected '<'");
    const auto target = r.until('>');
    if (!target) return broken("expected '>'");
    auto& link = links.emplace_back();
    link.target = *target;
    if (auto e = parameters(r, link)) return e;
    if (!r.done() && !r.accept(',')) return broken("expected ',' or ';'");
  }
  return links;
}

result<std::optional<std::string>> find_link(const http_response& response, std::string_view rel) {
  std::optional<std::string> found;
  for (const auto& h : response.headers) {
    if (linking::lowered(h.name) != "link") continue;
    auto links = parse_links(h.value);
    if (!links) return links.error();
    for (auto& link : *links) {
      if (link.anchored || !linking::has_name(link.rel, rel)) continue;
      if (found && *found != link.target)
        return make_error(errc::bad_input,
                          "two Link headers name different pages as '" + std::string{rel} + "'");
      found = std::move(link.target);
    }
  }
  return found;
}

} // namespace sluice
