#pragma once

#include "app/subscription.hpp"
#include "base/error.hpp"
#include "base/time.hpp"
#include "http/curl_loop.hpp"
#include "http/url.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

inline constexpr const char* default_node_url = "http://127.0.0.1:8090";

/// Which node the CLI speaks to: --url, else `SLUICE_URL`, else the default. Empty counts as
/// absent.
[[nodiscard]] std::string node_url(const std::optional<std::string>& flag,
                                   const std::optional<std::string>& variable);

/// The CLI's side of the API: one request at a time, and it waits. Every error is one line that
/// says what to do or what the node said.
class client {
public:
  /// `errc::bad_input` when `base_url` is none. Connects to nothing yet.
  static result<client> make(std::string_view base_url, duration timeout = duration{30'000});

  /// The JSON text of a 2xx answer. `path` is encoded already and may have a query. An error of the
  /// node keeps its meaning: 404 is `errc::not_found`, 409 `errc::conflict`, and so on;
  /// `errc::network` when nobody answers.
  result<std::string> get(std::string_view path);
  result<std::string> post(std::string_view path, std::string json);

  /// A stream of events: it goes on until the node ends it, the connection breaks or the client
  /// goes. Errors are told as those of `get`.
  std::shared_ptr<subscription> subscribe(std::string_view path);

private:
  client(http::url base, duration timeout);

  [[nodiscard]] std::string where() const;
  result<std::string> ask(http_request request, std::string_view path);

  http::url base_;
  duration timeout_;
  std::uint64_t last_id_ = 0;
  std::unique_ptr<http::curl_loop> loop_;
};

} // namespace sluice
