#include "http/head.hpp"

#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <string_view>

namespace sluice::http {

namespace beast = boost::beast;

namespace {

bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

void put_status(std::string& head, int status) {
  head += "HTTP/1.1 " + std::to_string(status) + " ";
  head += std::string_view{
    beast::http::obsolete_reason(beast::http::int_to_status(static_cast<unsigned>(status)))};
  head += "\r\nX-Content-Type-Options: nosniff\r\n";
}

void put_headers(std::string& head, const response& r) {
  if (has_body(r.status) && is_printable(r.content_type))
    head += "Content-Type: " + r.content_type + "\r\n";
  for (const auto& f : r.headers) {
    if (is_printable(f.name) && is_printable(f.value)) head += f.name + ": " + f.value + "\r\n";
  }
}

} // namespace

bool has_body(int status) noexcept {
  return status >= 200 && status != 204 && status != 304;
}

std::string head_of(const response& r, bool keep_alive) {
  std::string head;
  put_status(head, r.status);
  if (has_body(r.status)) head += "Content-Length: " + std::to_string(r.body.size()) + "\r\n";
  put_headers(head, r);
  head += keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
  return head;
}

std::string live_head_of(const response& r, bool chunked) {
  std::string head;
  put_status(head, r.status);
  put_headers(head, r);
  if (chunked) head += "Transfer-Encoding: chunked\r\n";
  head += "Connection: close\r\n\r\n";
  return head;
}

} // namespace sluice::http
