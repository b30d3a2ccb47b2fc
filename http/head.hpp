#pragma once

#include "http/exchange.hpp"

#include <string>

/// What stands before the body of a response.
namespace sluice::http {

[[nodiscard]] bool has_body(int status) noexcept;

[[nodiscard]] std::string head_of(const response& r, bool keep_alive);

/// Of a body whose length nobody knows yet; the connection ends with it.
[[nodiscard]] std::string live_head_of(const response& r, bool chunked);

} // namespace sluice::http
