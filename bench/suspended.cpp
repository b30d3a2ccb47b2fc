#include "bench/suspended.hpp"

#include "bench/harness.hpp"
#include "bench/measure.hpp"
#include "workflows/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::bench {

namespace {

struct wait_input {
  std::uint32_t steps = 1;
  std::uint32_t group = 1;
  std::uint32_t bytes = 0;
};

template <class Fields>
void describe(Fields& f, wait_input& x) {
  f("steps", x.steps);
  f("group", x.group);
  f("bytes", x.bytes);
}

/// How many steps ran, and how many runs came to their wait.
struct tally {
  std::atomic<std::uint64_t> worked{0};
  std::atomic<std::uint64_t> arrived{0};
};

task<std::uint64_t> work_then_wait(context& ctx, wait_input in, tally& t) {
  auto work = [&] {
    ++t.worked;
    return std::string(in.bytes, 'x');
  };
  for (std::uint32_t n = 0; n < in.steps; n += in.group) {
    std::vector<decltype(ctx.step("", work))> group;
    for (std::uint32_t i = n; i < std::min(n + in.group, in.steps); ++i)
      group.push_back(ctx.step("step-" + std::to_string(i + 1), work));
    co_await ctx.all(std::move(group));
  }
  ++t.arrived;
  auto released = co_await ctx.wait("await-release", "bench.released", to_string(ctx.run().id));
  co_return released ? 1 : 0;
}

void add_waiting_flow(catalog& flows, tally& t) {
  flows.add("bench.wait", [&t](context& ctx, wait_input in) -> task<std::uint64_t> {
    return work_then_wait(ctx, in, t);
  });
}

constexpr std::size_t chunk = 10'000;

/// What is free goes back to the system a moment later.
void let_memory_settle() {
  usleep(500'000);
}

double bytes_per_step(double megabytes, const resume_options& o) {
  return megabytes * (1 << 20) / (static_cast<double>(o.runs) * o.steps);
}

error request_all(engine& e, const wait_input& in, std::uint32_t runs,
                  const progress_line& progress) {
  for (std::uint32_t asked = 0; asked < runs; asked += chunk) {
    const auto count = std::min<std::size_t>(chunk, runs - asked);
    if (auto failed = e.request("bench.wait", json::encode(in), count)) return failed;
    if (progress && (asked / chunk) % 10 == 9)
      progress(fmt::format("{} runs requested", asked + count));
  }
  return {};
}

/// What the process that will be killed has to say before.
struct load_report {
  bool done = false;
  double bytes_per_step = 0;
};

/// The process that will be killed: loads, says so, and waits for its end.
[[noreturn]] void load_and_wait(const std::string& folder, const resume_options& o, int tell) {
  tally t;
  catalog flows;
  add_waiting_flow(flows, t);
  load_report report;
  auto e = engine::start(folder, flows);
  const auto before = anonymous_mb();
  if (e && !request_all(**e, {o.steps, o.group, o.result_bytes}, o.runs, {})
      && (*e)->wait_until([&] { return t.arrived == o.runs; }, 600)) {
    // The waits themselves are the last thing to become durable: a moment more.
    std::uint64_t head = 0;
    (*e)->wait_until(
      [&] {
        usleep(100'000);
        return std::exchange(head, (*e)->stats().head) == (*e)->stats().head;
      },
      60);
    report.done = true;
    let_memory_settle();
    report.bytes_per_step = bytes_per_step(anonymous_mb() - before, o);
  }
  [[maybe_unused]] auto written = write(tell, &report, sizeof report);
  while (true)
    pause();
}

} // namespace

result<resume_result> run_resume_bench(const resume_options& o, const progress_line& progress) {
  bench_folder folder{o.data_dir};
  if (folder.path().empty()) return make_error(errc::bad_input, "no folder to measure in");
  const auto journal = folder.path() + "/journal";
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return make_error(errc::internal, "no pipe");
  if (progress) progress(fmt::format("loading {} runs of {} steps", o.runs, o.steps));
  const auto child = fork();
  if (child < 0) return make_error(errc::internal, "no process");
  if (child == 0) load_and_wait(journal, o, pipe_ends[1]);
  close(pipe_ends[1]);
  load_report report;
  [[maybe_unused]] auto got = read(pipe_ends[0], &report, sizeof report);
  close(pipe_ends[0]);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (!report.done) return make_error(errc::internal, "the runs could not be loaded");
  if (progress) progress("killed; starting again");

  tally t;
  catalog flows;
  add_waiting_flow(flows, t);
  resume_result r;
  r.loaded_bytes_per_step = report.bytes_per_step;
  const auto before = anonymous_mb();
  stopwatch watch;
  auto e = engine::start(journal, flows);
  if (!e) return std::move(e.error());
  r.open_seconds = watch.seconds();
  if (!(*e)->wait_until([&] { return t.arrived == o.runs && (*e)->loading() == 0; }, 600))
    return make_error(errc::timed_out,
                      fmt::format("only {} of {} runs came back", t.arrived.load(), o.runs));
  r.seconds = watch.seconds();
  r.runs_per_s = o.runs / r.seconds;
  r.steps_per_s = r.runs_per_s * o.steps;
  r.repeated = static_cast<double>(t.worked.load());
  let_memory_settle();
  r.rss_mb = anonymous_mb();
  r.resumed_bytes_per_step = bytes_per_step(r.rss_mb - before, o);
  r.journal_mb = static_cast<double>((*e)->stats().file_bytes) / (1 << 20);
  return r;
}

result<memory_result> run_memory_bench(const memory_options& o, const progress_line& progress) {
  bench_folder folder{o.data_dir};
  if (folder.path().empty()) return make_error(errc::bad_input, "no folder to measure in");
  tally t;
  catalog flows;
  add_waiting_flow(flows, t);
  memory_result r;
  stopwatch watch;
  auto e = engine::start(folder.path() + "/journal", flows);
  if (!e) return std::move(e.error());
  const auto before = anonymous_mb();
  if (auto failed = request_all(**e, {1, 1, 16}, o.runs, progress)) return failed;
  if (!(*e)->wait_until([&] { return t.arrived == o.runs; }, 1200))
    return make_error(errc::timed_out, "the runs did not come to their wait within 1200 s");
  (*e)->wait_until(
    [&] {
      std::uint64_t busy = 0;
      for (const auto& card : (*e)->cards())
        busy += card.mailbox;
      return busy == 0;
    },
    60);
  r.seconds = watch.seconds();
  let_memory_settle();
  r.rss_mb = anonymous_mb();
  r.peak_rss_mb = peak_rss_mb();
  r.bytes_per_run = (r.rss_mb - before) * (1 << 20) / o.runs;
  return r;
}

report report_of(const resume_options& o, const resume_result& r) {
  return report{"resume",
                fmt::format("{}x{}", o.runs, o.steps),
                {{"seconds", r.seconds},
                 {"open_seconds", r.open_seconds},
                 {"runs_per_s", r.runs_per_s},
                 {"steps_per_s", r.steps_per_s},
                 {"repeated", r.repeated},
                 {"loaded_bytes_per_step", r.loaded_bytes_per_step},
                 {"resumed_bytes_per_step", r.resumed_bytes_per_step},
                 {"journal_mb", r.journal_mb},
                 {"rss_mb", r.rss_mb}}};
}

report report_of(const memory_options& o, const memory_result& r) {
  return report{"memory",
                fmt::format("{}", o.runs),
                {{"bytes_per_run", r.bytes_per_run},
                 {"rss_mb", r.rss_mb},
                 {"peak_rss_mb", r.peak_rss_mb},
                 {"seconds", r.seconds}}};
}

} // namespace sluice::bench
