#pragma once

#include "base/error.hpp"
#include "connectors/connector.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The bare way of a backfill: one thread, one curl multi handle, nothing durable.
namespace sluice::bench {

/// One list to move: what the connector needs, and whose it is.
struct floor_unit {
  unit_scope scope;
  std::string org;
  std::string token; ///< of the connection
};

struct floor_options {
  std::string gateway_url;
  std::string api_key;
  std::uint32_t posts_max = 30; ///< in flight
  std::uint32_t units_max = 30; ///< at once
};

struct floor_result {
  std::uint64_t pages = 0;
  std::uint64_t events = 0; ///< acknowledged
  double cpu_us = 0;        ///< of the thread
};

/// The JSON text that the gateway answers to a GET; anything but a 200 is an error.
[[nodiscard]] result<std::string> ask_gateway(const floor_options& o, const std::string& path);

/// Fetches every page of every unit and posts each item, as the engine does: the next page of a
/// unit is fetched once all items of the last are acknowledged. Any answer but a page or a 2xx ends
/// it with an error.
[[nodiscard]] result<floor_result> run_floor(const floor_options& o,
                                             const std::vector<floor_unit>& units);

} // namespace sluice::bench
