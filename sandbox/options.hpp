#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::sandbox {

/// What goes wrong, and how often. Shares are between 0 and 1. Whether it hits a request depends on
/// the seed, on what is asked for and on how often that was asked before: never on the time or on
/// the order of requests, so a run can be repeated.
struct fault_options {
  double provider_errors = 0; ///< 500, 502 and 503
  double truncated = 0;       ///< half a body, or a connection cut inside it
  double html = 0;            ///< an HTML page with status 200
  double secondary = 0;       ///< 403 or 429 of a secondary limit, with or without Retry-After
  duration provider_latency{0};
  std::uint32_t shift_every = 0; ///< after every so many pages of a list, the list moves

  double gateway_errors = 0; ///< 500, 502 and 503
  double gateway_busy = 0;   ///< 429, with or without Retry-After
  double lost_answers = 0;   ///< the event is taken, the connection closed without an answer
  duration gateway_latency{0};
  std::uint64_t down_after = 0;   ///< so many accepted events, then the gateway answers 503 …
  duration down_for{0};           ///< … for this long
  std::uint32_t poison_every = 0; ///< one of so many delivery ids always answers 400
};

/// The world that a sandbox shows. The same options and the same start show the same bytes.
struct options {
  std::uint64_t seed = 1;

  std::uint32_t tenants = 5; ///< GitHub connections `conn-1` …
  std::uint32_t repos = 3;   ///< of each
  std::uint32_t pulls = 250; ///< of each repository, as are the next two
  std::uint32_t issues = 120;
  std::uint32_t releases = 30;
  std::uint32_t big_tenant = 0;     ///< repositories of one more connection, `big`; 0: none
  std::uint32_t vercel_tenants = 2; ///< Vercel connections `vconn-1` …
  std::uint32_t projects = 2;       ///< of each
  std::uint32_t deployments = 150;  ///< of each project
  std::uint32_t days = 25;          ///< items are spread over so many days before the start

  std::uint32_t rate_limit = 5000; ///< requests of one connection in a window
  duration rate_window{3'600'000};
  duration token_ttl{3'600'000};
  std::string api_key = "sandbox-key";
  std::uint32_t renamed_every = 0; ///< every so many repositories answer 301 under their name
  bool dedupe = false;             ///< the gateway answers 409 to what it has
  std::vector<std::string> disabled_types;
  std::vector<std::string> scopes; ///< empty: connections do not mention them
  std::size_t cache_bytes = 64ULL << 20;

  fault_options faults;
};

} // namespace sluice::sandbox
