#pragma once

#include "base/time.hpp"
#include "http/exchange.hpp"

#include <string>
#include <string_view>

namespace sluice::http {

/// An answer that says what went wrong, in the one shape that all errors have (J12).
struct problem {
  int status = 500;
  std::string code = "INTERNAL"; ///< for programs: upper case, never renamed
  std::string message;           ///< for people: one sentence
  bool retryable = false;
  std::string details = "null"; ///< JSON text
};

/// `{error: {code, message, details, retryable}, metadata: {operationId, timestamp}}`
[[nodiscard]] response to_response(const problem& p, std::string_view operation, timestamp at);

} // namespace sluice::http
