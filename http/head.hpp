#pragma once

#include "http/exchange.hpp"

#include <string>

/// What stands before the body of a response.
namespace sluice::http {

[[nodiscard]] bool has_body(int status) noexcept;

/// Written into a string that was used before: its room is there already.
void put_head(std::string& head, const response& r, bool keep_alive);

/// Of a body whose length nobody knows yet; the connection ends with it.
void put_live_head(std::string& head, const response& r, bool chunked);

} // namespace sluice::http
