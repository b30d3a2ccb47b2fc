#pragma once

#include "base/error.hpp"
#include "http/problem.hpp"

#include <string>
#include <string_view>
#include <vector>

/// Errors as the API tells them (J12).
namespace sluice::api {

/// One wrong field of a request.
struct mistake {
  std::string field; ///< `workflow`, `input/limit`, `X-Correlation-Id`
  std::string message;
};

/// 400 `VALIDATION_ERROR` that names each wrong field, in words and in `details.fields` (B1).
[[nodiscard]] http::problem invalid(const std::vector<mistake>& mistakes);

/// Status, code and whether trying again may help, for an error that an actor answered. Details
/// that begin with `field: ` name that field.
[[nodiscard]] http::problem to_problem(const error& e);

} // namespace sluice::api
