#include "http/url.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/ipv4_address.hpp>
#include <boost/url/ipv6_address.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <boost/url/url.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace sluice::http {

namespace urls = boost::urls;

namespace {

constexpr std::size_t url_bytes_max = 16 * 1024;

std::uint16_t own_port(std::string_view scheme) {
  return scheme == "https" ? 443 : 80;
}

/// Boost's own `port_number` wraps around above 65535.
std::optional<std::uint16_t> port_of(std::string_view digits, std::uint16_t otherwise) {
  if (digits.empty()) return otherwise;
  std::uint16_t port = 0;
  const char* end = digits.data() + digits.size();
  auto [at, failed] = std::from_chars(digits.data(), end, port);
  if (failed != std::errc{} || at != end || port == 0) return std::nullopt;
  return port;
}

error not_a_url(std::string_view why) {
  return make_error(errc::bad_input, "not an http or https URL: " + std::string{why});
}

} // namespace

bool is_loopback(const origin& o) {
  if (o.host == "localhost") return true;
  if (o.host.starts_with('[') && o.host.ends_with(']')) {
    auto v6 = urls::parse_ipv6_address(std::string_view{o.host}.substr(1, o.host.size() - 2));
    return v6.has_value() && v6->is_loopback();
  }
  auto v4 = urls::parse_ipv4_address(o.host);
  return v4.has_value() && v4->to_bytes()[0] == 127;
}

std::string to_string(const origin& o) {
  auto text = o.scheme + "://" + o.host;
  if (o.port != own_port(o.scheme)) text += ":" + std::to_string(o.port);
  return text;
}

result<url> url::parse(std::string_view text) {
  if (text.size() > url_bytes_max) return not_a_url("too long");
  auto parsed = urls::parse_uri(text);
  if (!parsed) return not_a_url("bad syntax");
  urls::url u{*parsed};
  u.normalize_scheme();
  u.normalize_authority();
  if (u.scheme() != "http" && u.scheme() != "https") return not_a_url("another scheme");
  const std::string_view host = u.encoded_host();
  if (host.empty()) return not_a_url("no host");
  if (host.find('%') != host.npos) return not_a_url("escapes in the host");
  auto port = port_of(u.port(), own_port(u.scheme()));
  if (!port) return not_a_url("the port is not between 1 and 65535");

  url made;
  made.origin_ = {std::string{u.scheme()}, std::string{host}, *port};
  made.has_user_info_ = u.has_userinfo();
  auto path = std::string{std::string_view{u.encoded_path()}};
  if (path.empty()) path = "/";
  made.printable_ = to_string(made.origin_) + path;
  made.text_ = made.printable_;
  if (u.has_userinfo()) {
    made.text_.insert(made.origin_.scheme.size() + 3,
                      std::string{std::string_view{u.encoded_userinfo()}} + "@");
  }
  if (u.has_query()) made.text_.append("?").append(std::string_view{u.encoded_query()});
  return made;
}

result<url> url::resolve(std::string_view reference) const {
  auto parsed = urls::parse_uri_reference(reference);
  if (!parsed) return not_a_url("bad syntax in a reference");
  auto base = urls::parse_uri(text_);
  if (!base) return not_a_url("bad syntax");
  urls::url made;
  if (auto resolved = urls::resolve(*base, *parsed, made); !resolved) {
    return not_a_url("bad syntax in a reference");
  }
  return parse(made.buffer());
}

result<url> url::join(std::string_view path) const {
  while (path.starts_with('/'))
    path.remove_prefix(1);
  auto parsed = urls::parse_origin_form("/" + std::string{path});
  if (!parsed) return not_a_url("bad syntax in a path");
  for (auto segment : parsed->segments()) {
    if (segment == "." || segment == "..") return not_a_url("a . or .. segment in a path");
  }
  auto base = std::string_view{text_}.substr(0, text_.find('?'));
  while (base.ends_with('/'))
    base.remove_suffix(1);
  return parse(std::string{base} + "/" + std::string{path});
}

std::string percent_encode(std::string_view text) {
  return urls::encode(text, urls::unreserved_chars);
}

result<target> parse_target(std::string_view text) {
  auto parsed = urls::parse_origin_form(text);
  if (!parsed) return make_error(errc::bad_input, "the request target is not a path");
  target made;
  for (auto segment : parsed->segments())
    made.segments.push_back(std::move(segment));
  if (made.segments.size() == 1 && made.segments.front().empty()) made.segments.clear();
  urls::encoding_opts as_browsers;
  as_browsers.space_as_plus = true;
  for (auto param : parsed->encoded_params()) {
    made.query.emplace_back(param.key.decode(as_browsers), param.value.decode(as_browsers));
  }
  return made;
}

} // namespace sluice::http
