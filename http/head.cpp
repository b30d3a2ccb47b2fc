#include "http/head.hpp"

#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace sluice::http {

namespace beast = boost::beast;

namespace {

bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

void put(std::string& head, std::initializer_list<std::string_view> texts) {
  for (const auto text : texts)
    head.append(text);
}

void put_status(std::string& head, int status) {
  const auto reason =
    beast::http::obsolete_reason(beast::http::int_to_status(static_cast<unsigned>(status)));
  put(head, {"HTTP/1.1 ",
             std::to_string(status),
             " ",
             {reason.data(), reason.size()},
             "\r\nX-Content-Type-Options: nosniff\r\n"});
}

void put_fields(std::string& head, const response& r) {
  if (has_body(r.status) && is_printable(r.content_type))
    put(head, {"Content-Type: ", r.content_type, "\r\n"});
  for (const auto& f : r.headers) {
    if (is_printable(f.name) && is_printable(f.value)) put(head, {f.name, ": ", f.value, "\r\n"});
  }
}

} // namespace

bool has_body(int status) noexcept {
  return status >= 200 && status != 204 && status != 304;
}

void put_head(std::string& head, const response& r, bool keep_alive) {
  head.clear();
  put_status(head, r.status);
  if (has_body(r.status)) put(head, {"Content-Length: ", std::to_string(r.body.size()), "\r\n"});
  put_fields(head, r);
  put(head, {keep_alive ? "\r\n" : "Connection: close\r\n\r\n"});
}

void put_live_head(std::string& head, const response& r, bool chunked) {
  head.clear();
  put_status(head, r.status);
  put_fields(head, r);
  if (chunked) put(head, {"Transfer-Encoding: chunked\r\n"});
  put(head, {"Connection: close\r\n\r\n"});
}

} // namespace sluice::http
