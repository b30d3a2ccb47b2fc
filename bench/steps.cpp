#include "bench/steps.hpp"

#include "bench/harness.hpp"
#include "bench/journal.hpp"
#include "bench/measure.hpp"
#include "workflows/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace sluice::bench {

namespace {

using steady = std::chrono::steady_clock;

/// When each step began. A run writes only its own part, so that nothing is shared.
struct step_times {
  std::uint32_t steps = 0;
  std::vector<steady::time_point> begins;
  std::atomic<std::uint32_t> runs{0};
};

struct load_input {
  std::uint32_t steps = 0;
  std::uint32_t bytes = 0;
};

template <class Fields>
void describe(Fields& f, load_input& x) {
  f("steps", x.steps);
  f("bytes", x.bytes);
}

task<std::uint64_t> load(context& ctx, load_input in, step_times& times) {
  const auto run = times.runs++;
  std::uint64_t seen = 0;
  for (std::uint32_t n = 0; n < in.steps; ++n) {
    auto work = [&] {
      times.begins[static_cast<std::size_t>(run) * in.steps + n] = steady::now();
      return std::string(in.bytes, 'x');
    };
    std::string text = co_await ctx.step("step-" + std::to_string(n + 1), work);
    seen += text.size();
  }
  co_return seen;
}

std::vector<double> latencies_us(const step_times& times, std::uint32_t runs) {
  std::vector<double> all;
  for (std::size_t run = 0; run < runs; ++run)
    for (std::size_t n = 1; n < times.steps; ++n) {
      const auto at = run * times.steps + n;
      all.push_back(
        std::chrono::duration<double, std::micro>(times.begins[at] - times.begins[at - 1]).count());
    }
  std::sort(all.begin(), all.end());
  return all;
}

double store_alone_per_s(const std::string& data_dir) {
  journal_options o;
  o.data_dir = data_dir;
  o.producers = {1000};
  o.per_case = std::chrono::duration<double>{1};
  o.rounds = 1;
  auto measured = run_journal_bench(o);
  return measured ? measured->cases.front().journal_per_s : 0;
}

} // namespace

result<steps_result> run_steps_bench(const steps_options& o,
                                     const std::function<void(const std::string&)>& progress) {
  steps_result r;
  std::vector<double> rates;
  std::vector<double> alone;
  std::vector<double> p50;
  std::vector<double> p99;
  std::vector<double> cpu;
  const double total = static_cast<double>(o.runs) * o.steps;
  for (std::uint32_t round = 0; round < std::max(1u, o.rounds); ++round) {
    bench_folder folder{o.data_dir};
    if (folder.path().empty()) return make_error(errc::bad_input, "no folder to measure in");
    if (round == 0) r.sync_us = sync_us(folder.path());
    alone.push_back(store_alone_per_s(o.data_dir));
    step_times times;
    times.steps = o.steps;
    times.begins.resize(static_cast<std::size_t>(o.runs) * o.steps);
    catalog flows;
    flows.add("bench.steps", [&times](context& ctx, load_input in) -> task<std::uint64_t> {
      return load(ctx, in, times);
    });
    settings config;
    config.node.hosts = o.hosts;
    auto e = engine::start(folder.path() + "/journal", flows, config);
    if (!e) return std::move(e.error());
    const auto cpu_before = cpu_seconds();
    if (auto failed =
          (*e)->request("bench.steps", json::encode(load_input{o.steps, o.result_bytes}), o.runs))
      return failed;
    if (!(*e)->wait_until([&] { return (*e)->live() == 0; }, 600))
      return make_error(errc::timed_out, "the runs did not end within 600 s");
    cpu.push_back((cpu_seconds() - cpu_before) * 1e6 / total);
    const auto first = *std::min_element(times.begins.begin(), times.begins.end());
    const auto last = *std::max_element(times.begins.begin(), times.begins.end());
    const auto seconds = std::chrono::duration<double>(last - first).count();
    // The steps that had begun before the last one are all durable; of the last round, none is
    // counted.
    rates.push_back((total - o.runs) / std::max(seconds, 1e-9));
    auto all = latencies_us(times, o.runs);
    if (!all.empty()) {
      p50.push_back(all[all.size() / 2]);
      p99.push_back(all[all.size() * 99 / 100]);
    }
    r.bytes_per_step = static_cast<double>((*e)->stats().file_bytes) / total;
    if (progress)
      progress(fmt::format("round {}: {:.0f} steps/s, store alone {:.0f} records/s", round + 1,
                           rates.back(), alone.back()));
  }
  r.steps_per_s = median(rates);
  r.journal_per_s = median(alone);
  r.ratio_to_journal = r.journal_per_s > 0 ? r.steps_per_s / r.journal_per_s : 0;
  r.p50_us = median(p50);
  r.p99_us = median(p99);
  r.cpu_us_per_step = median(cpu);
  r.rss_mb = anonymous_mb();
  return r;
}

report report_of(const steps_options& o, const steps_result& r) {
  return report{"steps",
                fmt::format("{}x{}", o.runs, o.steps),
                {{"steps_per_s", r.steps_per_s},
                 {"journal_per_s", r.journal_per_s},
                 {"ratio_to_journal", r.ratio_to_journal},
                 {"p50_us", r.p50_us},
                 {"p99_us", r.p99_us},
                 {"sync_us", r.sync_us},
                 {"p50_to_sync", r.sync_us > 0 ? r.p50_us / r.sync_us : 0},
                 {"bytes_per_step", r.bytes_per_step},
                 {"cpu_us_per_step", r.cpu_us_per_step},
                 {"rss_mb", r.rss_mb}}};
}

} // namespace sluice::bench
