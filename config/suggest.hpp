#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The one of `known` that somebody who wrote `given` most likely meant; empty when none is near.
/// Names are dotted: `http.tiemout` is near `http.timeout`, and so is a bare `timeout`.
[[nodiscard]] std::string suggest(std::string_view given, const std::vector<std::string>& known);

} // namespace sluice
