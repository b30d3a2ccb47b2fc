#pragma once

#include "base/time.hpp"
#include "messages/http.hpp"
#include "messages/work.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::http {

struct curl_options {
  /// Exchanges under way at once; more wait in order of arrival, and their clocks do not run yet.
  std::uint32_t open_max = 256;
  /// Connections to one host; 0: no cap but `open_max`.
  std::uint32_t host_connections_max = 0;
  /// An exchange slower than this for `low_speed_time` is a time-out.
  std::uint32_t low_speed_bytes_per_s = 16;
  duration low_speed_time{60'000};
  std::string user_agent = "sluice";
  // For requests that say nothing else.
  duration timeout{30'000};
  duration connect_timeout{10'000};
  std::uint64_t body_bytes_max = 16ULL << 20;
};

/// The client's end of HTTP: libcurl's multi handle and the one thread that touches it. Connections
/// and handles are kept and used again; HTTP/2 is spoken over TLS where it is offered.
///
/// What holds for every request:
/// - Only http and https, no proxy from the environment, no user info in the URL (a credential goes
///   into a header), no `Expect`, compressed answers are inflated, and `body_bytes_max` counts
///   inflated bytes.
/// - An error names method and URL without query, never a header (S7).
/// - A 3xx is an answer like any other when `redirects_max` is 0 or the method is neither GET nor
///   HEAD. Otherwise it is followed within the origin of the request, at most `redirect_limit`
///   times (S12); one that is not followed comes back with its status and headers, and with an
///   `error`.
class curl_loop {
public:
  /// Runs on the loop's thread, exactly once per `start`: hands the response on and returns. It may
  /// call `start` and `abort`.
  using done = std::function<void(std::uint64_t id, http_response)>;
  /// Runs on the loop's thread, before `done`, with each part of the body as it arrives.
  using piece = std::function<void(std::string_view bytes)>;

  /// Where the answers of many requests go: what ends in one turn of the loop is one call, on the
  /// loop's thread. Of an answer it gets the status, `Retry-After` and the first
  /// `kept_body_bytes` of the body.
  struct outlet {
    std::function<void(std::vector<http_answered>)> deliver;
    std::vector<http_answered> gathered{}; ///< the loop's
  };
  using outlet_ptr = std::shared_ptr<outlet>;
  static constexpr std::size_t kept_body_bytes = 1024;

  explicit curl_loop(curl_options options = {});
  /// Answers everything that is open with `aborted`, then ends the thread.
  ~curl_loop();
  curl_loop(const curl_loop&) = delete;
  curl_loop& operator=(const curl_loop&) = delete;

  /// Any thread. `id` is the caller's and must not be that of an open request.
  void start(std::uint64_t id, http_request request, done on_done);

  /// The same for an answer that goes on for long: the body of a 2xx is told in pieces instead of
  /// being kept, and no limit holds for its size.
  void start(std::uint64_t id, http_request request, done on_done, piece on_piece);

  /// Any thread. Sends `like` once per body. What is the same for all is read and checked once, as
  /// long as it is the same object.
  void start_many(std::shared_ptr<const http_request> like, std::vector<http_body> bodies,
                  const outlet_ptr& to);

  /// Any thread. As `abort`, for requests of that outlet.
  void abort_many(const outlet_ptr& to, std::vector<token> ids);

  /// Any thread. The request is answered with `aborted` unless its answer is already on the way; an
  /// unknown id is nothing to do.
  void abort(std::uint64_t id);

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace sluice::http
