#pragma once

#include "http/curl_loop.hpp"
#include "http/url.hpp"

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// One exchange as libcurl sees it: a part of `curl_loop`, for nobody else.
namespace sluice::http {

using steady = std::chrono::steady_clock;

struct free_easy {
  void operator()(CURL* e) const noexcept { curl_easy_cleanup(e); }
};
struct free_list {
  void operator()(curl_slist* l) const noexcept { curl_slist_free_all(l); }
};
struct free_multi {
  void operator()(CURLM* m) const noexcept { curl_multi_cleanup(m); }
};
using easy_handle = std::unique_ptr<CURL, free_easy>;

/// What is known of a request before it is sent, the same for all that differ in their bodies.
struct prepared {
  std::shared_ptr<const http_request> request;
  std::optional<url> at;
  std::string wrong; ///< why it cannot be sent; empty: it can
  std::unique_ptr<curl_slist, free_list> headers;
};

/// One exchange, from `start` to its answer; redirects included.
struct transfer {
  std::uint64_t id = 0; ///< the caller's; of one that has an outlet, the loop's own
  std::uint64_t body_bytes_max = 0;
  std::shared_ptr<const http_request> request;
  std::string body;
  curl_loop::done on_done;
  curl_loop::piece on_piece; ///< may be empty
  curl_loop::outlet_ptr to;  ///< instead of `on_done`
  token tag = 0;             ///< there
  std::shared_ptr<const prepared> how;
  std::optional<url> redirected;
  steady::time_point deadline;
  std::uint32_t redirects = 0;
  easy_handle easy;
  std::array<char, CURL_ERROR_SIZE> detail{};
  http_response response;
  std::size_t header_bytes = 0;
  bool headers_too_large = false;

  /// Carries `next` from now on; the handle and what was set on it stay.
  void take_over(transfer& next);

  [[nodiscard]] const url& at() const { return redirected ? *redirected : *how->at; }
};

template <class T>
void set(CURL* easy, CURLoption option, T value) {
  curl_easy_setopt(easy, option, value);
}

/// What is the same for every request that a handle will ever carry.
enum class encodings : bool { none, all }; ///< that an answer may have
[[nodiscard]] easy_handle new_easy(const curl_options& o, encodings e);

[[nodiscard]] std::shared_ptr<const prepared> prepare(std::shared_ptr<const http_request> request);

/// Sets what this exchange needs of its handle, which carried others before; `left` is the time it
/// has.
void set_up(transfer& t, const curl_options& o, duration left);

/// What is left to set where all else is as it was.
void set_body(transfer& t);

/// Takes away what dies with the exchange, so that the handle can carry the next one.
void clear(CURL* easy);

/// Writes why it failed into the response.
void fail(transfer& t, std::string_view what);
/// The same for an error of curl's.
void fail(transfer& t, CURLcode code);

} // namespace sluice::http
