#include "app/bench_command.hpp"

#include "app/output.hpp"

#include <fmt/format.h>

namespace sluice {

namespace {

void tell(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
}

void show(const bench::report& r, bool json) {
  print_line(json ? bench::to_json(r) : bench::to_table(r));
}

} // namespace

exit_code bench_command(const bench::journal_options& o, bool json) {
  auto measured = bench::run_journal_bench(o, [](const bench::journal_case& c) {
    tell(fmt::format("{:>5} producers  {:>9.0f} records/s  {:.2f} of a bare log", c.producers,
                     c.journal_per_s, c.ratio));
  });
  if (!measured) return fail(measured.error());
  show(bench::report_of(*measured), json);
  if (measured->good()) return exit_code::done;
  complain("the journal is below its bar");
  return exit_code::failed;
}

exit_code bench_command(const bench::steps_options& o, bool json) {
  auto measured = bench::run_steps_bench(o, tell);
  if (!measured) return fail(measured.error());
  show(bench::report_of(o, *measured), json);
  return exit_code::done;
}

exit_code bench_command(const bench::resume_options& o, bool json) {
  auto measured = bench::run_resume_bench(o, tell);
  if (!measured) return fail(measured.error());
  show(bench::report_of(o, *measured), json);
  if (measured->repeated == 0) return exit_code::done;
  complain("steps ran again that were in the journal");
  return exit_code::failed;
}

exit_code bench_command(const bench::kill_options& o, bool json) {
  auto measured = bench::run_kill_bench(o, tell);
  if (!measured) return fail(measured.error());
  show(bench::report_of(o, *measured), json);
  if (measured->good()) return exit_code::done;
  complain("something was lost, repeated or wrong");
  return exit_code::failed;
}

exit_code bench_command(const bench::memory_options& o, bool json) {
  auto measured = bench::run_memory_bench(o, tell);
  if (!measured) return fail(measured.error());
  show(bench::report_of(o, *measured), json);
  return exit_code::done;
}

exit_code bench_command(const bench::backfill_options& o, bool json) {
  auto measured = bench::run_backfill_bench(o, tell);
  if (!measured) return fail(measured.error());
  show(bench::report_of(o, *measured), json);
  return exit_code::done;
}

} // namespace sluice
