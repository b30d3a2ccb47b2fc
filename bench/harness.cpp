#include "bench/harness.hpp"

#include "bench/measure.hpp"

#include <caf/scoped_actor.hpp>

#include <chrono>
#include <fstream>
#include <sys/resource.h>
#include <thread>

namespace sluice::bench {

namespace {

/// The figure behind a name in the kernel's account of this process, in megabytes.
double status_mb(const std::string& name) {
  std::ifstream status{"/proc/self/status"};
  std::string word;
  double kilobytes = 0;
  while (status >> word)
    if (word == name + ":" && status >> kilobytes) return kilobytes / 1024;
  return 0;
}

} // namespace

result<std::unique_ptr<engine>> engine::start(const std::string& folder, const catalog& flows,
                                              const settings& config) {
  std::unique_ptr<engine> e{new engine};
  lmdb_options where;
  where.path = folder;
  e->disk_ = std::make_unique<lmdb_store>(std::move(where));
  auto grant = e->disk_->open();
  if (!grant) return std::move(grant.error());
  node_parts parts;
  parts.config = config;
  parts.clock = start_engine_clock();
  parts.disk = e->disk_.get();
  parts.grant = *grant;
  parts.flows = &flows;
  e->node_ = std::make_unique<node>(std::move(parts));
  auto found = e->node_->recover();
  if (!found) return std::move(found.error());
  return e;
}

engine::~engine() = default;

error engine::request(const std::string& workflow, const std::string& input, std::size_t count) {
  caf::scoped_actor self{node_->system()};
  request_runs asked;
  asked.runs.resize(count);
  for (auto& r : asked.runs) {
    r.workflow = workflow;
    r.input = input;
  }
  error failed;
  self->request(node_->core().event_log, caf::infinite, std::move(asked))
    .receive([](const runs_accepted&) {}, [&](caf::error& e) { failed = std::move(e); });
  return failed;
}

std::uint64_t engine::live() {
  caf::scoped_actor self{node_->system()};
  std::uint64_t count = ~std::uint64_t{0};
  self->request(node_->core().admission, caf::infinite, count_runs{})
    .receive([&](const run_counts& c) { count = c.hosted + c.pending; }, [](const caf::error&) {});
  return count;
}

std::uint64_t engine::loading() {
  caf::scoped_actor self{node_->system()};
  std::uint64_t count = 0;
  for (const auto& host : node_->core().hosts)
    self->request(host, caf::infinite, count_runs{})
      .receive([&](const run_counts& c) { count += c.loading; }, [](const caf::error&) {});
  return count;
}

bool engine::wait_until(const std::function<bool()>& done, double at_most) {
  stopwatch watch;
  while (!done()) {
    if (watch.seconds() > at_most) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

std::vector<actor_card> engine::cards() {
  caf::scoped_actor self{node_->system()};
  std::vector<actor_card> all;
  self->request(node_->core().inspector, caf::infinite, list_atom_v)
    .receive([&](std::vector<actor_card>& cards) { all = std::move(cards); },
             [](const caf::error&) {});
  return all;
}

double anonymous_mb() {
  return status_mb("RssAnon");
}

double peak_rss_mb() {
  return status_mb("VmHWM");
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

} // namespace sluice::bench
