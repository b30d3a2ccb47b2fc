#pragma once

#include "http/exchange.hpp"
#include "http/problem.hpp"

#include <optional>
#include <string_view>

namespace sluice::http {

/// A server on loopback is within reach of every page in the user's browser. Refuses what only such
/// a page would send: a `Host` that is neither loopback nor `listen_host` (a name that was bent to
/// 127.0.0.1, 421), and a changing request whose `Origin` is not this server (403). Also refuses a
/// request that has no single, well-formed `Host` (400); HTTP/1.0 may have none.
[[nodiscard]] std::optional<problem> guard(const request& r, bool http_1_0,
                                           std::string_view listen_host);

} // namespace sluice::http
