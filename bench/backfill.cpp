#include "bench/backfill.hpp"

#include "app/client.hpp"
#include "base/json.hpp"
#include "bench/child.hpp"
#include "bench/floor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace sluice::bench {

namespace {

using std::chrono::milliseconds;

constexpr const char* api_key = "sandbox-key";
constexpr const char* unlimited = "1000000000";
constexpr int patience_s = 600;
constexpr std::size_t trigger_threads = 8;

struct seen_resource {
  std::string provider_id;
  std::string name;
};

template <class Fields>
void describe(Fields& f, seen_resource& x) {
  f("providerResourceId", x.provider_id);
  f("resourceName", x.name);
}

struct seen_connection {
  std::string org;
  std::vector<seen_resource> resources;
};

template <class Fields>
void describe(Fields& f, seen_connection& x) {
  f("orgId", x.org);
  f("resources", x.resources);
}

struct seen_token {
  std::string token;
};

template <class Fields>
void describe(Fields& f, seen_token& x) {
  f("accessToken", x.token);
}

struct seen_ledger {
  std::uint64_t distinct = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t missing = 0;
  std::uint64_t corrupted = 0;
  std::int64_t last_ms = 0;
};

template <class Fields>
void describe(Fields& f, seen_ledger& x) {
  f("distinct", x.distinct);
  f("duplicates", x.duplicates);
  f("missing", x.missing);
  f("corrupted", x.corrupted);
  f("lastDeliveryAt", x.last_ms);
}

struct seen_run {
  std::string id;
  std::string status;
};

template <class Fields>
void describe(Fields& f, seen_run& x) {
  f("runId", x.id);
  f("status", x.status);
}

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(now).count();
}

/// User and system time of a process.
double cpu_us(pid_t pid) {
  std::ifstream file{fmt::format("/proc/{}/stat", pid)};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto after_name = text.rfind(')');
  if (after_name == text.npos) return 0;
  std::istringstream rest{text.substr(after_name + 1)};
  const std::vector<std::string> words{std::istream_iterator<std::string>{rest}, {}};
  constexpr std::size_t user_time = 11;
  if (words.size() < user_time + 2) return 0;
  const auto ticks = std::stod(words[user_time]) + std::stod(words[user_time + 1]);
  return ticks * 1e6 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double peak_rss_mb(pid_t pid) {
  std::ifstream file{fmt::format("/proc/{}/status", pid)};
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

/// A server of ours in a process of its own.
class served {
public:
  served(std::vector<std::string> arguments,
         const std::vector<std::pair<std::string, std::string>>& variables,
         const std::string& folder, const std::string& name)
    : port_file_{folder + "/" + name + ".port"} {
    std::filesystem::remove(port_file_);
    for (const char* word : {"--listen", "127.0.0.1:0", "--port-file"})
      arguments.emplace_back(word);
    arguments.push_back(port_file_);
    process_.emplace(own_program(), arguments, variables, folder + "/" + name + ".log");
  }

  error wait_ready() {
    for (int tries = 0; tries < 3000 && process_->running(); ++tries) {
      std::ifstream file{port_file_};
      std::string port;
      if (file >> port && file.peek() == '\n') {
        url_ = "http://127.0.0.1:" + port;
        auto made = client::make(url_, duration{60'000});
        if (!made) return std::move(made.error());
        api_.emplace(std::move(*made));
        return {};
      }
      std::this_thread::sleep_for(milliseconds{10});
    }
    return make_error(errc::internal, "a process did not start: see " + port_file_);
  }

  client& api() { return *api_; }
  bool running() { return process_->running(); }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }

private:
  std::string port_file_;
  std::string url_;
  std::optional<child> process_;
  std::optional<client> api_;
};

/// One turn of one side.
struct turn {
  double per_s = 0;
  double cpu_us = 0;
  double sandbox_cpu_us = 0;
  double rss_mb = 0;
  std::uint64_t duplicates = 0;
};

std::vector<std::string> sandbox_arguments(const backfill_options& o) {
  const auto pulls = std::to_string(std::uint64_t{o.pages} * 100);
  const auto cache = std::to_string(o.events() / 200 + 64); // MB: all pages, with room
  return {"sandbox",
          "--tenants",
          std::to_string(o.tenants),
          "--repos",
          std::to_string(o.units_each()),
          "--pulls",
          pulls,
          "--issues",
          "0",
          "--releases",
          "0",
          "--days",
          "29",
          "--vercel-tenants",
          "0",
          "--rate-limit",
          unlimited,
          "--token-ttl-s",
          "36000",
          "--cache-mb",
          cache};
}

class comparison {
public:
  comparison(const backfill_options& o, std::string folder)
    : options_{o}, folder_{std::move(folder)},
      sandbox_{sandbox_arguments(o), {}, folder_, "sandbox"} {}

  /// Starts the sandbox, and asks it for all that the bare loop has to know.
  error prepare() {
    if (auto e = sandbox_.wait_ready()) return e;
    floor_.gateway_url = sandbox_.url() + "/gateway";
    floor_.api_key = api_key;
    for (std::uint32_t i = 1; i <= options_.tenants; ++i) {
      const auto id = "conn-" + std::to_string(i);
      auto about = ask_gateway(floor_, "/connections/" + id);
      if (!about) return std::move(about.error());
      auto token = ask_gateway(floor_, "/connections/" + id + "/token");
      if (!token) return std::move(token.error());
      auto connection = json::decode<seen_connection>(*about);
      if (!connection) return std::move(connection.error());
      auto key = json::decode<seen_token>(*token);
      if (!key) return std::move(key.error());
      for (const auto& r : connection->resources) {
        floor_unit u;
        u.scope.installation = id;
        u.scope.resource_id = r.provider_id;
        u.scope.resource_name = r.name;
        u.scope.entity = "pull_request";
        u.scope.since = from_millis(now_ms()) - std::chrono::days{30};
        u.scope.base_url = sandbox_.url() + "/github";
        u.org = connection->org;
        u.token = key->token;
        units_.push_back(std::move(u));
      }
    }
    return {};
  }

  result<turn> floor_turn() {
    if (auto e = reset()) return e;
    const auto served_before = cpu_us(sandbox_.pid());
    const auto start = now_ms();
    auto done = run_floor(floor_, units_);
    if (!done) return std::move(done.error());
    turn t;
    t.cpu_us = done->cpu_us / events();
    return judged(t, start, served_before);
  }

  result<turn> node_turn() {
    if (auto e = reset()) return e;
    const auto data = folder_ + "/data";
    std::filesystem::remove_all(data);
    served node{{"node", "--data", data},
                {{"SLUICE_GATEWAY_URL", sandbox_.url() + "/gateway"},
                 {"SLUICE_GATEWAY_API_KEY", api_key},
                 {"SLUICE_GITHUB_URL", sandbox_.url() + "/github"},
                 {"SLUICE_RATE_REQUESTS", unlimited},
                 {"SLUICE_BACKFILL_UNITS_PER_INSTALLATION", "30"},
                 {"SLUICE_BACKFILL_UNITS_MAX", "30"},
                 {"SLUICE_BACKFILL_RUNS_MAX", "30"},
                 {"SLUICE_LOG_LEVEL", "error"}},
                folder_,
                "node"};
    if (auto e = node.wait_ready()) return e;
    const auto node_before = cpu_us(node.pid());
    const auto served_before = cpu_us(sandbox_.pid());
    const auto start = now_ms();
    auto runs = trigger(node);
    if (!runs) return std::move(runs.error());
    for (const auto& run : *runs) {
      if (auto e = wait_for(node, run)) return e;
    }
    turn t;
    t.cpu_us = (cpu_us(node.pid()) - node_before) / events();
    t.rss_mb = peak_rss_mb(node.pid());
    return judged(t, start, served_before);
  }

private:
  [[nodiscard]] double events() const { return static_cast<double>(options_.events()); }

  error reset() {
    auto answer = sandbox_.api().post("/ledger/reset", "{}");
    return answer ? error{} : std::move(answer.error());
  }

  /// All tenants, by a few threads: one after the other they would wait for a commit each.
  result<std::vector<std::string>> trigger(const served& node) {
    std::vector<std::string> runs(options_.tenants);
    std::vector<error> wrong(std::min<std::size_t>(trigger_threads, runs.size()));
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n < wrong.size(); ++n)
      threads.emplace_back([&, n] {
        for (auto i = n; i < runs.size() && !wrong[n]; i += wrong.size())
          wrong[n] = trigger_one(node.url(), i + 1, runs[i]);
      });
    for (auto& t : threads)
      t.join();
    for (auto& e : wrong) {
      if (e) return std::move(e);
    }
    return runs;
  }

  static error trigger_one(const std::string& url, std::size_t tenant, std::string& run) {
    auto api = client::make(url);
    if (!api) return std::move(api.error());
    auto answer = api->post(
      "/trigger",
      fmt::format(R"({{"installationId":"conn-{0}","provider":"github","orgId":"org-conn-{0}",)"
                  R"("depth":30,"entityTypes":["pull_request"]}})",
                  tenant));
    if (!answer) return std::move(answer.error());
    auto accepted = json::decode<seen_run>(*answer);
    if (!accepted) return std::move(accepted.error());
    run = accepted->id;
    return {};
  }

  static error wait_for(served& node, const std::string& run) {
    stopwatch watch;
    while (watch.seconds() < patience_s && node.running()) {
      auto answer = node.api().get("/runs/" + run);
      if (!answer) return std::move(answer.error());
      auto seen = json::decode<seen_run>(*answer);
      if (!seen) return std::move(seen.error());
      if (seen->status == "completed") return {};
      if (seen->status != "running" && seen->status != "pending")
        return make_error(errc::internal, "a backfill ended: " + answer->substr(0, 2000));
      std::this_thread::sleep_for(milliseconds{50});
    }
    return make_error(errc::timed_out, "a backfill does not end");
  }

  /// What the ledger says of the turn; one that did not bring everything whole is an error.
  result<turn> judged(turn t, std::int64_t start, double served_before) {
    t.sandbox_cpu_us = (cpu_us(sandbox_.pid()) - served_before) / events();
    auto answer = sandbox_.api().get("/ledger");
    if (!answer) return std::move(answer.error());
    auto seen = json::decode<seen_ledger>(*answer);
    if (!seen) return std::move(seen.error());
    if (seen->missing != 0 || seen->corrupted != 0 || seen->distinct != options_.events())
      return make_error(errc::internal,
                        fmt::format("the ledger has {} of {} events, {} missing, {} corrupted",
                                    seen->distinct, options_.events(), seen->missing,
                                    seen->corrupted));
    t.duplicates = seen->duplicates;
    t.per_s =
      events() * 1000 / static_cast<double>(std::max<std::int64_t>(1, seen->last_ms - start));
    return t;
  }

  const backfill_options& options_;
  std::string folder_;
  served sandbox_;
  floor_options floor_;
  std::vector<floor_unit> units_;
};

double middle(const std::vector<turn>& turns, double turn::* what) {
  std::vector<double> values;
  for (const auto& t : turns)
    values.push_back(t.*what);
  return median(std::move(values));
}

} // namespace

result<backfill_bench_result>
run_backfill_bench(const backfill_options& o,
                   const std::function<void(const std::string&)>& progress) {
  if (o.events() == 0 || o.rounds == 0) return make_error(errc::bad_input, "nothing to measure");
  bench_folder folder{o.data_dir};
  if (folder.path().empty()) return make_error(errc::bad_input, "no folder to work in");
  comparison both{o, folder.path()};
  if (auto e = both.prepare()) return e;
  // The first turn makes the sandbox's pages, and does not count.
  if (auto warm = both.floor_turn(); !warm) return std::move(warm.error());
  std::vector<turn> floors;
  std::vector<turn> nodes;
  backfill_bench_result r;
  for (std::uint32_t round = 0; round < o.rounds; ++round) {
    auto bare = both.floor_turn();
    if (!bare) return std::move(bare.error());
    auto node = both.node_turn();
    if (!node) return std::move(node.error());
    if (progress)
      progress(fmt::format("bare {:.0f}/s {:.1f} us, node {:.0f}/s {:.1f} us {:.0f} MB, "
                           "sandbox {:.1f} us",
                           bare->per_s, bare->cpu_us, node->per_s, node->cpu_us, node->rss_mb,
                           node->sandbox_cpu_us));
    r.duplicates += node->duplicates;
    r.rss_mb = std::max(r.rss_mb, node->rss_mb);
    floors.push_back(*bare);
    nodes.push_back(*node);
  }
  r.events_per_s = middle(nodes, &turn::per_s);
  r.floor_events_per_s = middle(floors, &turn::per_s);
  r.cpu_us = middle(nodes, &turn::cpu_us);
  r.floor_cpu_us = middle(floors, &turn::cpu_us);
  r.sandbox_cpu_us = middle(nodes, &turn::sandbox_cpu_us);
  return r;
}

report report_of(const backfill_options& o, const backfill_bench_result& r) {
  auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  return report{"backfill",
                fmt::format("{} x {} x {}", o.tenants, o.units_each(), o.pages),
                {{"events_per_s", r.events_per_s},
                 {"floor_events_per_s", r.floor_events_per_s},
                 {"ratio_to_floor", r.events_per_s / r.floor_events_per_s},
                 {"cpu_us_per_event", r.cpu_us},
                 {"floor_cpu_us_per_event", r.floor_cpu_us},
                 {"rss_mb", r.rss_mb},
                 {"sandbox_ceiling_per_s", 1e6 / std::max(r.sandbox_cpu_us, 0.001)},
                 {"missing", number(r.missing)},
                 {"corrupted", number(r.corrupted)},
                 {"duplicates", number(r.duplicates)}}};
}

} // namespace sluice::bench
