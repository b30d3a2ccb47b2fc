#include "app/bench_command.hpp"

#include "app/output.hpp"

#include <fmt/format.h>

namespace sluice {

namespace {

void tell(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
}

} // namespace

exit_code bench_command(const bench::journal_options& o) {
  auto measured = bench::run_journal_bench(o, [](const bench::journal_case& c) {
    tell(fmt::format("{:>5} producers  {:>9.0f} records/s  {:.2f} of a bare log", c.producers,
                     c.journal_per_s, c.ratio));
  });
  if (!measured) return fail(measured.error());
  print_line(bench::to_json_line(*measured));
  if (measured->good()) return exit_code::done;
  complain("the journal is below its bar");
  return exit_code::failed;
}

exit_code bench_command(const bench::steps_options& o) {
  auto measured = bench::run_steps_bench(o, tell);
  if (!measured) return fail(measured.error());
  print_line(bench::to_json_line(o, *measured));
  return exit_code::done;
}

exit_code bench_command(const bench::resume_options& o) {
  auto measured = bench::run_resume_bench(o, tell);
  if (!measured) return fail(measured.error());
  print_line(bench::to_json_line(o, *measured));
  if (measured->repeated == 0) return exit_code::done;
  complain("steps ran again that were in the journal");
  return exit_code::failed;
}

exit_code bench_command(const bench::kill_options& o) {
  auto measured = bench::run_kill_bench(o, tell);
  if (!measured) return fail(measured.error());
  print_line(bench::to_json_line(o, *measured));
  if (measured->good()) return exit_code::done;
  complain("something was lost, repeated or wrong");
  return exit_code::failed;
}

exit_code bench_command(const bench::memory_options& o) {
  auto measured = bench::run_memory_bench(o, tell);
  if (!measured) return fail(measured.error());
  print_line(bench::to_json_line(o, *measured));
  return exit_code::done;
}

} // namespace sluice
