#pragma once

#include "app/exit_code.hpp"
#include "bench/backfill.hpp"
#include "bench/journal.hpp"
#include "bench/kill.hpp"
#include "bench/steps.hpp"
#include "bench/suspended.hpp"

/// `sluice bench …`: progress on standard error, then a table or, with `json`, one
/// line of JSON on standard output.
/// A figure below its bar is work that failed.
namespace sluice {

exit_code bench_command(const bench::journal_options& o, bool json);
exit_code bench_command(const bench::steps_options& o, bool json);
exit_code bench_command(const bench::resume_options& o, bool json);
exit_code bench_command(const bench::memory_options& o, bool json);
exit_code bench_command(const bench::kill_options& o, bool json);
exit_code bench_command(const bench::backfill_options& o, bool json);

} // namespace sluice
