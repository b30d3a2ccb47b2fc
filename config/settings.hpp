#pragma once

#include "base/log.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <map>
#include <string>

/// Every setting with its default. Read once, in `app`, and passed on as values. A member has the
/// name of its key in sluice.toml, which says what each is for; sizes are in bytes.
namespace sluice {

struct node_settings {
  std::string name = "node-1";
  std::uint32_t hosts = 2;   ///< run host actors
  std::uint32_t threads = 0; ///< of the scheduler; 0: one per core
  duration drain_timeout = std::chrono::seconds{10};

  friend bool operator==(const node_settings&, const node_settings&) = default;
};

struct storage_settings {
  std::uint64_t map_size = 1ULL << 40;
  std::uint64_t reserve = 64ULL << 20; ///< free disk below which the node turns read-only
  std::uint32_t batch_records_max = 4096;
  std::uint64_t batch_bytes_max = 1ULL << 20;
  duration retention = std::chrono::days{30};
  duration retention_interval = std::chrono::minutes{1};
  std::uint32_t retention_slice = 1000; ///< records removed in one commit

  friend bool operator==(const storage_settings&, const storage_settings&) = default;
};

struct runs_settings {
  std::uint32_t steps_max = 10'000'000;
  std::uint32_t crashes_max = 10; ///< starts without progress after which a run is parked
  std::uint64_t result_bytes_max = 1ULL << 20;
  std::uint64_t input_bytes_max = 1ULL << 20;
  duration rescan_interval = std::chrono::seconds{30};
  std::uint64_t live_max = 2'000'000; ///< runs that have not ended; past it new ones are refused

  friend bool operator==(const runs_settings&, const runs_settings&) = default;
};

/// How a step is tried again when its workflow says nothing else.
struct steps_settings {
  std::uint32_t retries = 3;
  duration initial = std::chrono::milliseconds{250};
  double factor = 2.0;
  duration max = std::chrono::seconds{30};

  friend bool operator==(const steps_settings&, const steps_settings&) = default;
};

struct server_settings {
  std::uint64_t body_bytes_max = 1ULL << 20;
  std::uint64_t header_bytes_max = 16ULL << 10;
  std::uint32_t connections_max = 1024;
  duration request_timeout = std::chrono::seconds{30};
  duration write_timeout = std::chrono::seconds{30};

  friend bool operator==(const server_settings&, const server_settings&) = default;
};

struct client_settings {
  std::uint32_t connections_max = 100;
  std::uint32_t per_host_max = 30;
  duration connect_timeout = std::chrono::seconds{10};
  duration timeout = std::chrono::seconds{30};
  std::uint64_t body_bytes_max = 16ULL << 20;
  std::string user_agent = "sluice";

  friend bool operator==(const client_settings&, const client_settings&) = default;
};

struct log_settings {
  log::level level = log::level::info;
  log::format format = log::format::automatic;
  std::string file; ///< empty: standard error

  friend bool operator==(const log_settings&, const log_settings&) = default;
};

/// The user's gateway: connections, tokens, deliveries.
struct gateway_settings {
  std::string url; ///< empty: there is none, and no backfill can run
  secret api_key;  ///< sent as X-API-Key
  std::uint32_t in_flight = 30;
  std::uint32_t page_in_flight = 10;
  std::uint32_t ack_group = 32;
  duration ack_delay = std::chrono::milliseconds{50};

  friend bool operator==(const gateway_settings& a, const gateway_settings& b) {
    return a.url == b.url && a.api_key.reveal() == b.api_key.reveal() && a.in_flight == b.in_flight
           && a.page_in_flight == b.page_in_flight && a.ack_group == b.ack_group
           && a.ack_delay == b.ack_delay;
  }
};

/// The budget of one installation and bucket: so many requests in any window (B14).
struct rate_settings {
  std::uint32_t requests = 4000;
  duration window = std::chrono::hours{1};
  duration wait_max = std::chrono::minutes{75};

  friend bool operator==(const rate_settings&, const rate_settings&) = default;
};

/// When a service is not called any more, and when it is tried again (H1).
struct circuit_settings {
  std::uint32_t failure_threshold = 5;
  duration reset_timeout = std::chrono::seconds{30};
  std::uint32_t success_threshold = 1;

  friend bool operator==(const circuit_settings&, const circuit_settings&) = default;
};

/// Where a provider's API is.
struct provider_settings {
  std::string url; ///< empty: the provider's own

  friend bool operator==(const provider_settings&, const provider_settings&) = default;
};

/// How many backfills at once, and how long they may take (B8, B13, B20).
struct backfill_settings {
  std::uint32_t runs_per_installation = 1;
  std::uint32_t runs_max = 10;
  std::uint32_t units_per_installation = 5;
  std::uint32_t units_max = 30;
  duration unit_start = std::chrono::minutes{5};
  duration unit_finish = std::chrono::hours{2};
  std::uint32_t pages_max = 100'000;
  duration sent_kept = std::chrono::hours{30 * 24};

  friend bool operator==(const backfill_settings&, const backfill_settings&) = default;
};

struct example_settings {
  std::string url; ///< where the workflow `example.calls` posts to

  friend bool operator==(const example_settings&, const example_settings&) = default;
};

struct settings {
  std::string listen = "127.0.0.1:8090";
  std::string data = "data";
  node_settings node;
  storage_settings storage;
  runs_settings runs;
  steps_settings steps;
  server_settings server;
  client_settings client;
  gateway_settings gateway;
  rate_settings rate;
  std::map<std::string, rate_settings> rates; ///< by service: `[rate.github]`
  circuit_settings circuit;
  std::map<std::string, circuit_settings> circuits; ///< by service: `[circuit.github]`
  provider_settings github;
  provider_settings vercel;
  backfill_settings backfill;
  log_settings log;
  example_settings example;

  friend bool operator==(const settings&, const settings&) = default;
};

} // namespace sluice
