#pragma once

#include "base/time.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/journal.hpp"
#include "messages/run.hpp"
#include "tests/simulation/findings.hpp"
#include "tests/simulation/program.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace sluice::simulation {

class journal_watch;

/// What the world outside of the node remembers, whatever happens to the node: which work was done
/// under which key, and what a workflow was seen to know.
class outside {
public:
  outside(findings& found, const journal_watch& journal) : found_{found}, journal_{journal} {}

  // -- told by workflows ---------------------------------------------------------------

  void begins(const run_row& run, const program& p);
  /// Work begins: the how manieth try, counted from 0 and over all crashes.
  std::uint32_t tries(const run_id& run, const std::string& step, const std::string& key);
  /// The workflow went on with this result of a step: it must be in the journal (I1), and the same
  /// whenever it is seen (I2, P15).
  void went_on(const run_row& run, const std::string& step, std::string_view result,
               timestamp logical_now);
  void gave_up(const run_row& run, const std::string& step, std::string_view code,
               timestamp logical_now);
  void waited(const run_row& run, const std::string& step, const std::optional<event>& e,
              timestamp logical_now);
  /// A number of the context's own dice (P15).
  void drew(const run_row& run, const std::string& step, std::uint64_t number);
  /// The process dies here.
  void dies(const run_id& run);

  /// While it lives a run is at work under its limits (P9).
  class busy {
  public:
    busy(outside& o, const program& p);
    busy(const busy&) = delete;
    busy& operator=(const busy&) = delete;
    ~busy();

  private:
    outside& o_;
    std::string gate_;
    std::string all_;
    std::string id_;
  };

  // -- asked and told by the driver ------------------------------------------------------

  void cancel_acknowledged(const run_id& run) { stopped_.insert(run); }
  [[nodiscard]] bool is_killer(const run_id& run) const { return killers_.contains(run); }
  [[nodiscard]] bool is_dying() const noexcept { return !killer_.is_nil(); }
  /// A new process begins.
  void reborn() noexcept { killer_ = run_id{}; }
  [[nodiscard]] const std::map<std::string, run_id>& runs() const noexcept { return runs_; }
  [[nodiscard]] std::uint64_t kills() const noexcept { return kills_; }

  /// The engine's time.
  std::function<timestamp()> now;

private:
  void remember(const run_row& run, const std::string& step, std::string_view what,
                timestamp logical_now);

  findings& found_;
  const journal_watch& journal_;
  std::map<std::string, run_id> runs_; ///< of each program
  std::map<std::pair<run_id, std::string>, std::uint32_t> tries_;
  std::map<std::pair<run_id, std::string>, std::string> keys_;
  std::map<std::string, std::pair<run_id, std::string>> owners_; ///< of keys
  std::map<std::pair<run_id, std::string>, std::string> known_;
  std::map<std::string, std::multiset<std::string>> at_work_; ///< limit → programs
  std::set<run_id> stopped_;
  std::set<run_id> killers_;
  run_id killer_;
  std::uint64_t kills_ = 0;
};

} // namespace sluice::simulation
