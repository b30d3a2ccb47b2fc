#include "http/curl_transfer.hpp"

#include "base/redact.hpp"
#include "http/exchange.hpp"
#include "http/outgoing.hpp"

#include <algorithm>
#include <utility>

namespace sluice::http {

namespace {

constexpr std::size_t response_header_bytes_max = 256ULL * 1024;
/// Larger than the default of 16 KB: pages arrive a third cheaper (guides/limits.md 5.1).
constexpr long buffer_bytes = 64L * 1024;

/// The beginning of an answer is enough for whoever has many: it is never too large.
std::size_t on_some_body(char* data, std::size_t, std::size_t n, void* user) {
  auto& body = static_cast<transfer*>(user)->response.body;
  body.append(data, std::min(n, curl_loop::kept_body_bytes - body.size()));
  return n;
}

std::size_t on_body(char* data, std::size_t, std::size_t n, void* user) {
  auto& t = *static_cast<transfer*>(user);
  if (t.on_piece) {
    long status = 0;
    curl_easy_getinfo(t.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 300) {
      t.on_piece({data, n});
      return n;
    }
  }
  if (n > t.body_bytes_max - t.response.body.size()) {
    t.response.too_large = true;
    return 0; // ends the transfer
  }
  t.response.body.append(data, n);
  return n;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool is_retry_after(std::string_view line) {
  constexpr std::string_view name = "retry-after:";
  return line.size() > name.size() && (line[0] == 'R' || line[0] == 'r')
         && same_name(line.substr(0, name.size()), name);
}

std::size_t on_header(char* data, std::size_t, std::size_t n, void* user) {
  auto& t = *static_cast<transfer*>(user);
  t.header_bytes += n;
  if (t.header_bytes > response_header_bytes_max) {
    t.headers_too_large = true;
    return 0;
  }
  const std::string_view line{data, n};
  if (line.starts_with("HTTP/")) { // the final answer after a 100
    t.response.headers.clear();
  } else if (t.to && !is_retry_after(line)) {
    return n;
  } else if (auto colon = line.find(':'); colon != line.npos && t.response.body.empty()) {
    t.response.headers.push_back(
      {std::string{trimmed(line.substr(0, colon))}, std::string{trimmed(line.substr(colon + 1))}});
  }
  return n;
}

void set_method(CURL* easy, const http_request& r, const std::string& body) {
  set(easy, CURLOPT_CUSTOMREQUEST, nullptr);
  set(easy, CURLOPT_HTTPGET, 1L); // also takes HEAD and POST of the last request back
  if (r.method == "HEAD") {
    set(easy, CURLOPT_NOBODY, 1L);
  } else if (r.method == "POST" || !body.empty()) {
    set(easy, CURLOPT_POST, 1L);
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    set(easy, CURLOPT_POSTFIELDS, body.c_str());
    if (r.method != "POST") set(easy, CURLOPT_CUSTOMREQUEST, r.method.c_str());
  } else if (r.method != "GET") {
    set(easy, CURLOPT_CUSTOMREQUEST, r.method.c_str());
  }
}

std::unique_ptr<curl_slist, free_list> header_list(const http_request& r) {
  curl_slist* list = curl_slist_append(nullptr, "Expect:");
  bool typed = false;
  for (const auto& h : r.headers) {
    typed = typed || same_name(h.name, "Content-Type");
    // `Name:` would tell curl to leave the header out, `Name;` sends it empty.
    const auto line = h.value.empty() ? h.name + ";" : h.name + ": " + h.value;
    list = curl_slist_append(list, line.c_str());
  }
  if (!typed) list = curl_slist_append(list, "Content-Type:"); // else curl calls a body a form
  return std::unique_ptr<curl_slist, free_list>{list};
}

} // namespace

void transfer::take_over(transfer& next) {
  id = next.id;
  body_bytes_max = next.body_bytes_max;
  request = std::move(next.request);
  body = std::move(next.body);
  to = std::move(next.to);
  tag = next.tag;
  how = std::move(next.how);
  deadline = next.deadline;
  redirects = 0;
  redirected.reset();
  detail[0] = 0;
  response = {};
  header_bytes = 0;
  headers_too_large = false;
}

easy_handle new_easy(const curl_options& o, encodings e) {
  easy_handle made{curl_easy_init()};
  auto* easy = made.get();
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set(easy, CURLOPT_PROXY, "");
  if (e == encodings::all) set(easy, CURLOPT_ACCEPT_ENCODING, "");
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  set(easy, CURLOPT_BUFFERSIZE, buffer_bytes);
  set(easy, CURLOPT_USERAGENT, o.user_agent.c_str());
  set(easy, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(o.low_speed_bytes_per_s));
  set(easy, CURLOPT_LOW_SPEED_TIME,
      static_cast<long>(std::chrono::ceil<std::chrono::seconds>(o.low_speed_time).count()));
  set(easy, CURLOPT_HEADERFUNCTION, on_header);
  return made;
}

std::shared_ptr<const prepared> prepare(std::shared_ptr<const http_request> request) {
  auto made = std::make_shared<prepared>();
  auto at = url::parse(request->url);
  if (at) made->at = *at;
  made->wrong = unsendable(*request, at);
  if (made->wrong.empty()) made->headers = header_list(*request);
  made->request = std::move(request);
  return made;
}

void fail(transfer& t, std::string_view what) {
  static const std::optional<url> nowhere;
  const auto& first = t.how ? t.how->at : nowhere;
  t.response.error = about(*t.request, t.redirected ? t.redirected : first, what);
}

void set_up(transfer& t, const curl_options& o, duration left) {
  auto* easy = t.easy.get();
  t.response = {};
  t.header_bytes = 0;
  t.detail[0] = 0;
  set_method(easy, *t.request, t.body);
  set(easy, CURLOPT_URL, t.at().text().c_str());
  set(easy, CURLOPT_HTTPHEADER, t.how->headers.get());
  set(easy, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left.count())));
  set(easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(t.request->connect_timeout.value_or(o.connect_timeout).count()));
  set(easy, CURLOPT_PIPEWAIT, t.at().where().scheme == "https" ? 1L : 0L);
  set(easy, CURLOPT_WRITEFUNCTION, t.to ? on_some_body : on_body);
  set(easy, CURLOPT_WRITEDATA, &t);
  set(easy, CURLOPT_HEADERDATA, &t);
  set(easy, CURLOPT_PRIVATE, &t);
  set(easy, CURLOPT_ERRORBUFFER, t.detail.data());
}

void set_body(transfer& t) {
  set(t.easy.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(t.body.size()));
  set(t.easy.get(), CURLOPT_POSTFIELDS, t.body.c_str());
}

void clear(CURL* easy) {
  set(easy, CURLOPT_POSTFIELDS, nullptr);
  set(easy, CURLOPT_HTTPHEADER, nullptr);
  set(easy, CURLOPT_ERRORBUFFER, nullptr);
}

void fail(transfer& t, CURLcode code) {
  const bool silent = t.detail[0] == 0;
  const auto detail = silent ? std::string{curl_easy_strerror(code)} : redact(t.detail.data());
  if (t.response.too_large) {
    fail(t, "the body exceeds " + std::to_string(t.body_bytes_max) + " bytes");
  } else if (t.headers_too_large) {
    fail(t, "the headers of the answer are too large");
  } else if (code == CURLE_OPERATION_TIMEDOUT) {
    t.response.timed_out = true;
    fail(t, "timed out: " + detail);
  } else {
    fail(t, detail);
  }
  t.response.body.clear();
}

} // namespace sluice::http
