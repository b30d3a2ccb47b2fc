#pragma once

#include "base/json.hpp"

#include <string>
#include <string_view>
#include <vector>

/// Reads what a node answered, for printing: what is absent is empty.
namespace sluice {

/// A string as it is, null as nothing, everything else as JSON.
[[nodiscard]] std::string text_of(const json::cursor& value);
[[nodiscard]] std::string text_of(const json::cursor& object, std::string_view name);
[[nodiscard]] std::vector<json::cursor> items_of(const json::cursor& object, std::string_view name);

/// The answer of GET /runs/{id} as text: the run, its units, what it waits for, its
/// steps.
void show_run(const json::cursor& run);

} // namespace sluice
