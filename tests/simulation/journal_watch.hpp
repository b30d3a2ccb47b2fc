#pragma once

#include "messages/event.hpp"
#include "messages/journal.hpp"
#include "messages/run.hpp"
#include "storage/memory_disk.hpp"
#include "storage/store.hpp"
#include "tests/simulation/findings.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sluice::simulation {

/// Looks at every commit as it happens and checks what must hold in the journal at all times. Keeps
/// books of its own, from the batches alone, and compares them with the disk.
class journal_watch {
public:
  explicit journal_watch(findings& found) : found_{found} {}

  /// The hook of the disk.
  void committed(const memory_disk& disk, const batch& b);
  /// A node began to work, at this time of its clock.
  void booted(timestamp at);
  /// Until now something kept wake-ups from being written.
  void healed(timestamp at) { on_time_since_ = std::max(on_time_since_, at); }
  /// The wall clock jumped: what depends on the order of stored times is no longer known.
  void clock_jumped() noexcept { jumped_ = true; }

  /// The final record of a step, by name; null: none is committed.
  [[nodiscard]] const step_record* result_of(const run_id& run, const std::string& step) const;
  /// One number for everything that was ever committed, in order (I28).
  [[nodiscard]] std::uint64_t trace() const noexcept { return trace_; }
  [[nodiscard]] std::uint64_t commits() const noexcept { return commits_; }
  [[nodiscard]] std::uint64_t events_of(const std::string& kind, const std::string& data) const;
  [[nodiscard]] std::uint64_t events_with_key(const std::string& key) const;

  /// The engine's time, and how much later than due a wake-up may be.
  std::function<timestamp()> now;
  duration lateness_max{35'000};
  /// How many messages ran so far: part of the trace.
  std::function<std::uint64_t()> messages;

private:
  struct known_run {
    run_row row;
    std::uint64_t first_seq = 0;
    std::map<std::uint32_t, step_record> newest;  ///< of each ordinal
    std::map<std::uint32_t, timestamp> due;       ///< earliest end of each open sleep
    std::map<std::string, std::uint64_t> taken;   ///< subject → newest event that a wait took
    std::map<std::string, std::uint32_t> results; ///< name → ordinal of its result
    std::string outcome;
  };

  struct known_event {
    std::uint64_t seq = 0;
    timestamp at{};
    timestamp committed{};
  };

  void check_chain(const memory_disk& disk, const batch& b);
  void take(const memory_disk& disk, const batch& b, const put_step& o, std::uint64_t seq);
  void take(const batch& b, const put_event& o, std::uint64_t seq);
  void take(const memory_disk& disk, const batch& b, const put_run& o);
  void check_sleep(const known_run& run, const step_record& r, const step_record* before);
  void check_wait(known_run& run, const step_record& r, const step_record* before,
                  std::uint64_t seq);
  void check_child(const batch& b, const step_record& r, const step_record* before);
  void check_wake(const memory_disk& disk, const run_id& id);
  void add_to_trace(std::string_view text);

  findings& found_;
  std::map<run_id, known_run> runs_;
  std::map<std::pair<std::string, std::string>, std::vector<known_event>> events_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts_; ///< kind, data
  std::map<std::string, std::uint64_t> keys_;
  std::set<batch_id> batches_;
  std::uint64_t head_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t trace_ = 0;
  std::uint64_t commits_ = 0;
  timestamp on_time_since_{};
  bool jumped_ = false;
};

} // namespace sluice::simulation
