#include "base/url.hpp"

#include "base/percent.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace sluice {

namespace url_reading {

constexpr std::size_t url_bytes_max = 16ULL * 1024;

error not_a_url(std::string_view why) {
  return make_error(errc::bad_input, "not an http or https URL: " + std::string{why});
}

std::uint16_t own_port(std::string_view scheme) {
  return scheme == "https" ? 443 : 80;
}

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return out;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The four bytes of a dotted address without leading zeros.
std::optional<std::array<unsigned char, 4>> ipv4(const std::string& host) {
  std::array<unsigned char, 4> bytes{};
  if (::inet_pton(AF_INET, host.c_str(), bytes.data()) != 1) return std::nullopt;
  return bytes;
}

std::optional<std::array<unsigned char, 16>> ipv6(std::string_view host) {
  if (host.size() < 2 || host.front() != '[' || host.back() != ']') return std::nullopt;
  std::array<unsigned char, 16> bytes{};
  const std::string inner{host.substr(1, host.size() - 2)};
  if (::inet_pton(AF_INET6, inner.c_str(), bytes.data()) != 1) return std::nullopt;
  return bytes;
}

bool is_host(const std::string& host) {
  if (host.starts_with('[')) return ipv6(host).has_value();
  const bool plain = std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_' || c == '.';
  });
  if (host.empty() || !plain) return false;
  // No top-level name begins with a digit: this is an address, then, and has one way to be written.
  auto last = std::string_view{host};
  if (last.ends_with('.')) last.remove_suffix(1);
  last = last.substr(last.rfind('.') == last.npos ? 0 : last.rfind('.') + 1);
  return last.empty() || !is_digit(last.front()) ? !last.empty() : ipv4(host).has_value();
}

std::optional<std::uint16_t> port_of(std::string_view digits, std::uint16_t otherwise) {
  if (digits.empty()) return otherwise;
  std::uint16_t port = 0;
  const char* end = digits.data() + digits.size();
  auto [at, failed] = std::from_chars(digits.data(), end, port);
  if (failed != std::errc{} || at != end || port == 0) return std::nullopt;
  return port;
}

/// RFC 3986, 5.2.4, for a path that begins with a slash.
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  bool ends_open = false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    ends_open = segment == "." || segment == "..";
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (!ends_open) kept.push_back(segment);
  }
  std::string out;
  for (auto segment : kept)
    out.append("/").append(segment);
  return ends_open || out.empty() ? out + "/" : out;
}

bool climbs(std::string_view path) {
  for (bool more = true; more;) {
    const auto end = path.find('/');
    more = end != path.npos;
    const auto segment = percent_decode(path.substr(0, end));
    if (!segment || *segment == "." || *segment == "..") return true;
    if (more) path.remove_prefix(end + 1);
  }
  return false;
}

} // namespace url_reading

bool is_loopback(const origin& o) {
  constexpr std::array<unsigned char, 16> one{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const auto v4 = url_reading::ipv4(o.host);
  return o.host == "localhost" || (v4 && (*v4)[0] == 127) || url_reading::ipv6(o.host) == one;
}

std::string to_string(const origin& o) {
  auto text = o.scheme + "://" + o.host;
  if (o.port != url_reading::own_port(o.scheme)) text += ":" + std::to_string(o.port);
  return text;
}

result<url> url::parse(std::string_view text) {
  if (text.size() > url_reading::url_bytes_max) return url_reading::not_a_url("too long");
  if (!is_url_text(text)) return url_reading::not_a_url("a character that must be escaped");
  text = text.substr(0, text.find('#'));
  const auto colon = text.find("://");
  if (colon == text.npos) return url_reading::not_a_url("no scheme");
  url made;
  made.origin_.scheme = url_reading::lower(text.substr(0, colon));
  if (made.origin_.scheme != "http" && made.origin_.scheme != "https") {
    return url_reading::not_a_url("another scheme");
  }
  auto rest = text.substr(colon + 3);
  auto authority = rest.substr(0, rest.find_first_of("/?"));
  rest.remove_prefix(authority.size());
  std::string_view user;
  if (const auto at = authority.find('@'); at != authority.npos) {
    made.has_user_info_ = true;
    user = authority.substr(0, at + 1);
    authority.remove_prefix(at + 1);
  }
  const auto bracket = authority.find(']');
  const auto host_end = authority.find(':', bracket == authority.npos ? 0 : bracket);
  made.origin_.host = url_reading::lower(authority.substr(0, host_end));
  if (!url_reading::is_host(made.origin_.host))
    return url_reading::not_a_url("the host is neither a name nor an address");
  const auto digits = host_end == authority.npos ? "" : authority.substr(host_end + 1);
  const auto port = url_reading::port_of(digits, url_reading::own_port(made.origin_.scheme));
  if (!port) return url_reading::not_a_url("the port is not between 1 and 65535");
  made.origin_.port = *port;

  const auto path = rest.substr(0, rest.find('?'));
  rest.remove_prefix(path.size());
  made.printable_ = to_string(made.origin_).append(path.empty() ? "/" : path);
  made.text_ = made.printable_;
  made.text_.insert(made.origin_.scheme.size() + 3, user).append(rest);
  return made;
}

std::string_view url::path() const noexcept {
  return std::string_view{printable_}.substr(printable_.find('/', origin_.scheme.size() + 3));
}

result<url> url::resolve(std::string_view reference) const {
  if (!is_url_text(reference)) return url_reading::not_a_url("a character that must be escaped");
  reference = reference.substr(0, reference.find('#'));
  const auto first = reference.find_first_of(":/?");
  if (first != reference.npos && reference[first] == ':') return parse(reference);
  if (reference.starts_with("//")) return parse(origin_.scheme + ":" + std::string{reference});
  const auto authority = text_.substr(0, text_.find('/', origin_.scheme.size() + 3));
  if (reference.empty()) return parse(text_);
  auto to = reference.substr(0, reference.find('?'));
  const auto query = reference.substr(to.size());
  if (to.empty()) return parse(authority + std::string{path()}.append(query));
  const auto from =
    to.starts_with('/') ? std::string_view{} : path().substr(0, path().rfind('/') + 1);
  return parse(authority + url_reading::without_dots(std::string{from}.append(to)).append(query));
}

result<url> url::join(std::string_view path) const {
  while (path.starts_with('/'))
    path.remove_prefix(1);
  if (url_reading::climbs(path.substr(0, path.find('?'))))
    return url_reading::not_a_url("a . or .. segment in a path");
  auto base = std::string_view{text_}.substr(0, text_.find('?'));
  while (base.ends_with('/'))
    base.remove_suffix(1);
  return parse(std::string{base}.append("/").append(path));
}

} // namespace sluice
