#pragma once

#include "base/error.hpp"
#include "storage/keys.hpp"
#include "storage/run_records.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Where the records of an ended run lie, in chunks small enough to be cut down slice by slice.
namespace sluice::codec {

/// Entries per chunk: about 1 KB, well below what LMDB puts on pages of its own.
inline constexpr std::size_t chunk_entries = 512;

[[nodiscard]] std::string write_steps(const keys::fixed<21>& key,
                                      std::span<const step_place> steps);
[[nodiscard]] std::string write_others(const keys::fixed<21>& key,
                                       std::span<const other_place> others);

/// `value` as it is stored under `key`.
[[nodiscard]] result<std::vector<step_place>> read_steps(std::string_view key,
                                                         std::string_view value);
[[nodiscard]] result<std::vector<other_place>> read_others(std::string_view key,
                                                           std::string_view value);

} // namespace sluice::codec
