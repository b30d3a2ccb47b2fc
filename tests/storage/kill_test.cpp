#include "storage/inspect.hpp"
#include "tests/storage/committer.hpp"
#include "tests/storage/stores.hpp"

#include <chrono>
#include <fcntl.h>
#include <random>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace sluice;
using namespace sluice::testing;

namespace {

/// Runs the committer for a while, kills it, gives the last number that it acknowledged.
std::uint64_t commit_and_kill(const std::string& folder, std::chrono::microseconds after) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(SLUICE_COMMITTER, SLUICE_COMMITTER, folder.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::this_thread::sleep_for(after);
  REQUIRE(::kill(child, SIGKILL) == 0);
  std::string said;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  if (said.empty()) return 0;
  // The last line may be cut.
  said.resize(said.rfind('\n') + 1);
  const auto line = said.find_last_of('\n', said.size() - 2);
  return std::stoull(said.substr(line == std::string::npos ? 0 : line + 1));
}

} // namespace

TEST_CASE("kill: what was acknowledged is there, batches are whole (I1, I6, F7)", "[kill]") {
  const std::uint32_t seed = 20261118;
  INFO("seed " << seed);
  std::mt19937 random{seed};
  temp_folder temp;
  std::uint64_t acknowledged = 0;
  for (int round = 0; round < 25; ++round) {
    INFO("round " << round);
    const auto wait = std::chrono::microseconds{2'000 + random() % 60'000};
    acknowledged = std::max(acknowledged, commit_and_kill(temp.journal(), wait));
    if (!std::filesystem::exists(temp.journal())) continue;
    {
      lmdb_store s{{temp.journal(), std::size_t{1} << 30, 0, false}};
      auto grant = s.open();
      REQUIRE(grant.engaged());
      auto rows = s.load(table::limit, 0, marker, "", 1);
      REQUIRE(rows.engaged());
      const std::uint64_t n = rows->empty() ? 0 : std::stoull(rows->at(0).value);
      REQUIRE(n >= acknowledged);
      const auto text = std::to_string(n);
      const auto next = std::to_string(n + 1);
      CHECK(s.find_event(0, "key-" + text)->has_value() == (n > 0));
      CHECK_FALSE(s.find_event(0, "key-" + next)->has_value());
      CHECK(s.load(table::dlq, 0, "", "", 1'000'000)->size() == n);
      if (n > 0) {
        const auto run = s.load_runs(0, std::nullopt, 1)->runs.at(0);
        CHECK(run.row.crash_seq == n);
        CHECK(run.wake_at == from_millis(static_cast<std::int64_t>(n)));
        CHECK(s.load_marks(0, numbered_run())->at(0).bitmap == text);
        auto page = s.load_steps(0, {numbered_run()}, {}, 10'000'000);
        REQUIRE(page->runs[0].steps.size() == n);
        CHECK(page->runs[0].steps.back().payload == text);
      }
      acknowledged = n;
    }
    auto report = verify_journal(temp.journal());
    REQUIRE(report.engaged());
    INFO((report->details.empty() ? "" : report->details[0]));
    CHECK(report->good());
  }
  CHECK(acknowledged > 0);
}
