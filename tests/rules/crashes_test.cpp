#include "rules/crashes.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("crashes: a result after the count takes it back to nothing (I17)") {
  CHECK(effective_crashes({.crashes = 4, .crash_seq = 100, .last_result_seq = 99}) == 4);
  CHECK(effective_crashes({.crashes = 4, .crash_seq = 100, .last_result_seq = 100}) == 4);
  CHECK(effective_crashes({.crashes = 4, .crash_seq = 100, .last_result_seq = 101}) == 0);
  CHECK(effective_crashes({}) == 0);
}

TEST_CASE("crashes: a node that ended without order counts against what it ran (I17)") {
  const crash_config config;
  CHECK(judge_restart({}, config) == crash_verdict{1, restart_mode::normal});
  CHECK(judge_restart({.clean = true}, config) == crash_verdict{0, restart_mode::normal});
  CHECK(judge_restart({.only_waits = true}, config) == crash_verdict{0, restart_mode::normal});
  CHECK(judge_restart({.crashes = 9, .crash_seq = 5, .last_result_seq = 6}, config)
        == crash_verdict{1, restart_mode::normal});
}

TEST_CASE("crashes: three times alone, ten times parked (I17)") {
  const crash_config config;
  struct row {
    std::uint32_t stored;
    restart_mode after_crash;
    restart_mode after_shutdown;
  };
  for (const row& r : {row{0, restart_mode::normal, restart_mode::normal},
                       row{1, restart_mode::normal, restart_mode::normal},
                       row{2, restart_mode::alone, restart_mode::normal},
                       row{3, restart_mode::alone, restart_mode::alone},
                       row{8, restart_mode::alone, restart_mode::alone},
                       row{9, restart_mode::park, restart_mode::alone},
                       row{10, restart_mode::park, restart_mode::park}}) {
    INFO(r.stored);
    crash_history h{.crashes = r.stored, .crash_seq = 7, .last_result_seq = 3};
    CHECK(judge_restart(h, config) == crash_verdict{r.stored + 1, r.after_crash});
    h.clean = true;
    CHECK(judge_restart(h, config) == crash_verdict{r.stored, r.after_shutdown});
  }
}

TEST_CASE("crashes: a run that kills its process every time is parked at the tenth (I17)") {
  const crash_config config;
  crash_history h;
  int starts = 0;
  for (;;) {
    const auto verdict = judge_restart(h, config);
    h.crashes = verdict.crashes;
    h.crash_seq += 1;
    if (verdict.mode == restart_mode::park) break;
    ++starts;
  }
  CHECK(starts == 9);
}
