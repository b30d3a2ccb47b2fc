#include "config/listen.hpp"

#include <arpa/inet.h>
#include <charconv>
#include <utility>

namespace sluice {

namespace listening {

bool is_loopback(const std::string& host) noexcept {
  if (host == "localhost") return true;
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

} // namespace listening

result<listen_address> parse_listen(std::string_view text) {
  const auto wrong = [text](std::string_view what) {
    return make_error(errc::bad_input, std::string{what} + ", got \"" + std::string{text} + "\"");
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return wrong("must be an address such as 127.0.0.1:8090");
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return wrong("must have its IPv6 address in brackets, such as [::1]:8090");
  const auto digits = text.substr(colon + 1);
  listen_address address{std::string{host}, 0};
  const auto* const end = digits.data() + digits.size();
  const auto [rest, code] = std::from_chars(digits.data(), end, address.port);
  if (code != std::errc{} || rest != end) return wrong("must end in a port between 0 and 65535");
  if (!listening::is_loopback(address.host))
    return wrong("must be a loopback address, because there are no API keys yet and anyone who"
                 " reaches the port may do everything");
  return address;
}

} // namespace sluice
