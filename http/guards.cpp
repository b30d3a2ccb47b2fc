#include "http/guards.hpp"

#include "http/url.hpp"

namespace sluice::http {

namespace {

bool is_safe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

std::optional<problem> guard_origin(const request& r, const origin& self) {
  if (is_safe(r.method) || r.count("Origin") == 0) return std::nullopt;
  auto from = url::parse(r.header("Origin"));
  if (r.count("Origin") == 1 && from && from->where() == self) return std::nullopt;
  return problem{403, "CROSS_SITE", "a page of another site may not send this request"};
}

} // namespace

std::optional<problem> guard(const request& r, bool http_1_0, std::string_view listen_host) {
  const auto hosts = r.count("Host");
  if (hosts == 0 && http_1_0) return guard_origin(r, {});
  const auto host = r.header("Host");
  const bool plain = host.find_first_of("/?#@\\") == host.npos;
  auto parsed = url::parse("http://" + std::string{host});
  if (hosts != 1 || !plain || !parsed) {
    return problem{400, "BAD_REQUEST", "the request needs one well-formed Host header"};
  }
  const auto& self = parsed->where();
  if (!is_loopback(self) && !same_name(self.host, listen_host)) {
    return problem{421, "WRONG_HOST",
                   "this server does not answer for the host in the Host header"};
  }
  return guard_origin(r, self);
}

} // namespace sluice::http
