#include "config/settings.hpp"

#include "config/listen.hpp"
#include "config/reader.hpp"

#include <map>
#include <string_view>

namespace sluice {

namespace all_settings {

using namespace std::chrono_literals;

constexpr std::uint64_t kib = 1ULL << 10;
constexpr std::uint64_t mib = 1ULL << 20;
constexpr std::uint64_t gib = 1ULL << 30;
constexpr std::uint64_t tib = 1ULL << 40;
constexpr std::uint32_t many = 1'000'000'000; // where only a slip of the finger is to be caught

/// Names go into log lines and metrics.
std::string check_name(const std::string& text) {
  constexpr std::string_view allowed =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (!text.empty() && text.size() <= 64 && text.find_first_not_of(allowed) == std::string::npos)
    return {};
  return "must be 1 to 64 letters, digits, '-', '_' or '.', got \"" + text + "\"";
}

/// Goes into a header as it is.
std::string check_header(const std::string& text) {
  for (const char c : text) {
    if (c < 0x20 || c == 0x7F) return "must be printable ASCII";
  }
  return {};
}

std::string check_url(const std::string& text) {
  if (text.empty() || text.starts_with("http://") || text.starts_with("https://")) return {};
  return "must be empty or begin with http:// or https://, got \"" + text + "\"";
}

void read_root(settings_reader& r, settings& s) {
  r.text("listen", s.listen, check_listen);
  r.text("data", s.data, check_data);
}

void read_node(settings_reader& r, node_settings& s) {
  r.section("node");
  r.text("name", s.name, check_name);
  r.count("hosts", s.hosts, 1, 256);
  r.count("threads", s.threads, 0, 1024);
  r.time("drain_timeout", s.drain_timeout, 0ms, 1h);
}

void read_storage(settings_reader& r, storage_settings& s) {
  r.section("storage");
  r.size("map_size", s.map_size, mib, 64 * tib);
  r.size("reserve", s.reserve, 0, tib);
  r.count("batch_records_max", s.batch_records_max, 1, 1'000'000);
  r.size("batch_bytes_max", s.batch_bytes_max, 4 * kib, gib);
  r.time("retention", s.retention, 0ms, 36500 * 24h);
  r.time("retention_interval", s.retention_interval, 10ms, 24h);
  r.count("retention_slice", s.retention_slice, 1, 1'000'000);
}

void read_runs(settings_reader& r, runs_settings& s) {
  r.section("runs");
  r.count("steps_max", s.steps_max, 1, many);
  r.count("crashes_max", s.crashes_max, 1, many);
  r.size("result_bytes_max", s.result_bytes_max, kib, gib);
  r.size("input_bytes_max", s.input_bytes_max, kib, gib);
  r.time("rescan_interval", s.rescan_interval, 10ms, 24h);
  r.count("live_max", s.live_max, 1, many);
}

void read_steps(settings_reader& r, steps_settings& s) {
  r.section("steps");
  r.count("retries", s.retries, 0, many);
  r.time("initial", s.initial, 0ms, 30 * 24h);
  r.real("factor", s.factor, 1.0, 100.0);
  r.time("max", s.max, 0ms, 30 * 24h);
}

void read_server(settings_reader& r, server_settings& s) {
  r.section("server");
  r.size("body_bytes_max", s.body_bytes_max, kib, gib);
  r.size("header_bytes_max", s.header_bytes_max, kib, mib);
  r.count("connections_max", s.connections_max, 1, 1'000'000);
  r.time("request_timeout", s.request_timeout, 10ms, 1h);
  r.time("write_timeout", s.write_timeout, 10ms, 1h);
}

void read_client(settings_reader& r, client_settings& s) {
  r.section("client");
  r.count("connections_max", s.connections_max, 1, 100'000);
  r.count("per_host_max", s.per_host_max, 1, 100'000);
  r.time("connect_timeout", s.connect_timeout, 10ms, 1h);
  r.time("timeout", s.timeout, 10ms, 24h);
  r.size("body_bytes_max", s.body_bytes_max, kib, gib);
  r.text("user_agent", s.user_agent, check_header);
}

void read_gateway(settings_reader& r, gateway_settings& s) {
  r.section("gateway");
  r.text("url", s.url, check_url);
  r.hidden("api_key", s.api_key, check_header);
  r.count("in_flight", s.in_flight, 1, 10'000);
  r.count("page_in_flight", s.page_in_flight, 1, 10'000);
  r.count("ack_group", s.ack_group, 1, 10'000);
  r.time("ack_delay", s.ack_delay, 1ms, 1min);
}

void read_rate_keys(settings_reader& r, rate_settings& s) {
  r.count("requests", s.requests, 1, many);
  r.time("window", s.window, 1s, 30 * 24h);
  r.time("wait_max", s.wait_max, 1s, 30 * 24h);
}

void read_circuit_keys(settings_reader& r, circuit_settings& s) {
  r.count("failure_threshold", s.failure_threshold, 1, many);
  r.time("reset_timeout", s.reset_timeout, 10ms, 24h);
  r.count("success_threshold", s.success_threshold, 1, 1000);
}

/// The section itself, then those of single services, which begin with what the section says.
template <class T>
void read_per_service(settings_reader& r, const std::string& section, T& all,
                      std::map<std::string, T>& own, void (*read)(settings_reader&, T&)) {
  r.section(section);
  read(r, all);
  for (const auto& service : r.subsections(section)) {
    r.section(section + "." + service);
    read(r, own.emplace(service, all).first->second);
  }
}

void read_provider(settings_reader& r, const std::string& name, provider_settings& s) {
  r.section(name);
  r.text("url", s.url, check_url);
}

void read_backfill(settings_reader& r, backfill_settings& s) {
  r.section("backfill");
  r.count("runs_per_installation", s.runs_per_installation, 1, many);
  r.count("runs_max", s.runs_max, 1, many);
  r.count("units_per_installation", s.units_per_installation, 1, many);
  r.count("units_max", s.units_max, 1, many);
  r.time("unit_start", s.unit_start, 1s, 24h);
  r.time("unit_finish", s.unit_finish, 1s, 30 * 24h);
  r.count("pages_max", s.pages_max, 1, many);
  r.time("sent_kept", s.sent_kept, 0s, 3650 * 24h);
}

void read_log(settings_reader& r, log_settings& s) {
  r.section("log");
  r.choice<log::level>("level", s.level,
                       {{"debug", log::level::debug},
                        {"info", log::level::info},
                        {"warning", log::level::warning},
                        {"error", log::level::error},
                        {"off", log::level::off}});
  r.choice<log::format>(
    "format", s.format,
    {{"auto", log::format::automatic}, {"text", log::format::text}, {"json", log::format::json}});
  r.text("file", s.file);
}

void read_example(settings_reader& r, example_settings& s) {
  r.section("example");
  r.text("url", s.url, check_url);
}

/// What no key can know of another.
void check_together(settings_reader& r, const settings& s) {
  if (s.steps.initial > s.steps.max)
    r.complain("'steps.initial' must not be more than 'steps.max'");
  if (s.client.per_host_max > s.client.connections_max)
    r.complain("'client.per_host_max' must not be more than 'client.connections_max'");
}

} // namespace all_settings

void read_settings(settings_reader& r, settings& s) {
  using namespace all_settings;
  read_root(r, s);
  read_node(r, s.node);
  read_storage(r, s.storage);
  read_runs(r, s.runs);
  read_steps(r, s.steps);
  read_server(r, s.server);
  read_client(r, s.client);
  read_gateway(r, s.gateway);
  read_per_service(r, "rate", s.rate, s.rates, read_rate_keys);
  read_per_service(r, "circuit", s.circuit, s.circuits, read_circuit_keys);
  read_provider(r, "github", s.github);
  read_provider(r, "vercel", s.vercel);
  read_backfill(r, s.backfill);
  read_log(r, s.log);
  read_example(r, s.example);
  check_together(r, s);
}

std::string check_listen(const std::string& text) {
  auto address = parse_listen(text);
  return address ? std::string{} : detail_of(address.error());
}

std::string check_data(const std::string& text) {
  return text.empty() ? "must not be empty" : "";
}

} // namespace sluice
