#pragma once

#include "base/boxed.hpp"
#include "base/time.hpp"
#include "messages/http.hpp"
#include "messages/reads.hpp"
#include "messages/run.hpp"
#include "messages/work.hpp"
#include "workflows/effects.hpp"
#include "workflows/operation.hpp"
#include "workflows/outside.hpp"
#include "workflows/task.hpp"

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class catalog;
class context;
struct workflow;

/// Limits of every run.
struct run_limits {
  std::uint64_t steps_max = 10'000'000;
  std::uint64_t result_bytes_max = 1ULL << 20;
  backoff_config retry; ///< of steps whose workflow says nothing else
};

/// What `on_failure` reads of its run: a part of the memo, and all marks.
struct recalled_memo {
  std::vector<step_record> steps;
  std::vector<put_marks> marks;
  std::optional<std::uint32_t> next; ///< ask again after this ordinal; nothing: that was all
};

struct recall_wait {
  std::coroutine_handle<> waiter;
  std::optional<recalled_memo> memo;
};

/// One run: its coroutine, its memo, and what it is waiting for. Knows no actor, no clock and no
/// disk. Every call gives it a fact (a commit, a wake-up, an answer) and gathers what it then wants
/// done in `effects`. The same code runs a fresh run, replays one, and replays half of one.
///
/// Owned by one actor; frames live and die here. At any time the workflow awaits at most one group
/// of operations, whose ordinals follow each other.
class machine {
public:
  machine(const catalog& flows, const workflow& flow, run_start start, run_ref self,
          const run_limits& limits);
  ~machine();
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  // -- facts ----------------------------------------------------------------------

  /// What the journal knows of the run; `more`: the memo goes on, ask for it by
  /// `effects::loads`.
  void load(run_memo memo, bool more);
  /// Replays what was loaded and goes on from there.
  void begin(effects& out);
  /// The next part of the memo.
  void feed(effects& out, run_memo memo, bool more);
  void recalled(effects& out, recalled_memo memo);
  void committed(effects& out, std::uint32_t what);
  /// Something of this run may be due.
  void wake(effects& out);
  void answered(effects& out, std::uint32_t ordinal, token id, std::optional<event> found);
  void responded(effects& out, token id, outside_answer answer);
  /// A delivery waits, or goes on; `look` tells.
  void stalled(const delivery_stalled& what);
  void slot_granted(effects& out);
  /// Stops the work now; `true` if that is news. `told`: the event log has the cancellation
  /// already.
  bool cancel(effects& out, std::string reason, bool told);

  // -- looking ----------------------------------------------------------------------

  [[nodiscard]] const run_row& row() const noexcept { return row_; }
  [[nodiscard]] run_id id() const noexcept { return row_.id; }
  [[nodiscard]] const std::string& input() const noexcept { return input_; }
  [[nodiscard]] std::uint64_t first_seq() const noexcept { return first_seq_; }
  [[nodiscard]] bool replaying() const noexcept { return replaying_; }
  /// Is it cancelled, and is that on its way to the journal?
  [[nodiscard]] bool being_cancelled() const noexcept;
  /// Steps whose work is under way or whose result is being committed.
  [[nodiscard]] std::size_t steps_under_way() const noexcept;
  [[nodiscard]] run_look look() const;

  // -- for operations, awaiters and the context ---------------------------------------

  /// Asks a group; `false`: all of it was in the memo, go on at once.
  bool ask(operation* const* group, std::size_t size, std::coroutine_handle<> waiter);
  /// `with`: what is committed together with the result.
  void work_done(operation& op, std::string payload, std::vector<sluice::op> with = {});
  /// Takes the exception that is being handled.
  void work_failed(operation& op, std::exception_ptr why);
  void ask_outside(outside_wait& wait, outside_question what);
  void forget_outside(outside_wait& wait) noexcept;
  /// Tells the gates how a request went; nobody is told once the host is going away.
  void tell_gates(request_finished what) noexcept;
  void recall_start(recall_wait& wait, std::optional<std::uint32_t> after);
  void recall_forget() noexcept { recall_ = nullptr; }
  /// The version of a change: from the memo, 0 for a run that is past it, else `newest`, recorded.
  /// Nothing: it is being recorded, suspend.
  std::optional<std::uint32_t> version(std::string_view change, std::uint32_t newest,
                                       std::coroutine_handle<> waiter);
  [[nodiscard]] std::uint32_t recorded_version() const noexcept { return version_; }
  [[nodiscard]] timestamp logical_now() const noexcept { return logical_now_; }
  /// The time of the fact that is being handled: for the work of steps.
  [[nodiscard]] timestamp work_now() const noexcept { return out_->now; }
  [[nodiscard]] std::uint64_t draw(std::string_view what) noexcept;
  /// A memo of this run that this build cannot read: parks it.
  void unreadable(const operation& op, std::string_view why);

  static const std::string& payload_of(const operation& op) noexcept { return op.payload_; }
  static const rare<failure>& failure_of(const operation& op) noexcept { return op.failed_; }

private:
  enum class state : std::uint8_t { running, stopping, ending, ended, parking };

  class entry; ///< one fact: sets `out_`, and at its end goes on with whatever became ready

  // machine_life.cpp: the life of the run
  void go_on();
  void set_off();
  void count_crash();
  [[nodiscard]] bool merely_waited() const noexcept;
  [[nodiscard]] bool merely_waits() const noexcept;
  void start_body();
  void start_failure();
  void stop(ending why, failure error);
  void stop_cancelled(std::string reason, bool told);
  void conclude();
  void conclude_failure();
  void finish(run_status status, std::string result);
  void save_row(std::uint32_t what);
  void request_park(std::string reason);
  void drop_frames() noexcept;
  void note_open_children();
  void announce(std::string kind, std::string subject, std::string data);
  void arm_deadline();
  [[nodiscard]] std::optional<timestamp> deadline() const;
  void load_more();
  [[nodiscard]] std::optional<std::string> journal_goes_on() const;

  // machine_asks.cpp: what it asks for, matched with its memo
  void match_group();
  void replay_ended();
  void match(operation& op);
  void from_memo(operation& op, step_record& row);
  void launch(operation& op);
  void settle(operation& op);
  void save(operation& op, step_status status, std::string payload, timestamp until = {});
  [[nodiscard]] operation* find(std::uint32_t ordinal) const noexcept;

  // machine_work.cpp: attempts
  void begin_work(operation& op);
  void give_up(operation& op, failure why);
  void pause(operation& op, timestamp until, std::string_view reason, bool at_gate);

  // machine_waits.cpp: for times, events, children and gates
  void wait_begins(operation& op);
  void wait_over(operation& op);
  void ask_event(operation& op, bool last);
  void event_taken(wait_operation& op, event found);
  void open_child(invoke_operation& op);
  void child_ended(invoke_operation& op, const event& found);
  [[nodiscard]] timestamp earliest_wake() const noexcept;
  void refresh_wake();
  void note_gates();
  void note_idle();
  void note_calm();
  [[nodiscard]] std::uint64_t& newest_taken(const wait_target& target);

  const catalog& flows_;
  const workflow& flow_;
  const run_limits& limits_;
  run_row row_;
  std::string input_;
  run_ref self_;
  std::uint64_t first_seq_;
  std::uint64_t last_result_seq_;
  timestamp admitted_at_;

  effects* out_ = nullptr;
  std::unique_ptr<context> context_;
  task<std::string> body_;
  task<void> after_failure_;

  std::vector<step_record> memo_;
  std::vector<step_record> versions_;
  std::size_t memo_at_ = 0;

  operation* const* group_ = nullptr;
  std::uint32_t group_size_ = 0;
  std::uint32_t group_first_ = 0;
  std::uint32_t unsettled_ = 0;
  std::uint32_t next_ordinal_ = 0;
  std::coroutine_handle<> waiter_;
  std::vector<outside_wait*> outside_;
  recall_wait* recall_ = nullptr;

  timestamp logical_now_;
  timestamp wake_at_{};     ///< as the store has it
  timestamp gate_since_{};  ///< since when all that is open waits at a gate
  std::uint64_t gated_ = 0; ///< milliseconds at gates so far (P12)
  std::uint64_t drawn_ = 0;
  std::uint32_t version_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
    taken_;                           ///< event kind and subject → newest seq taken
  std::vector<event> parting_;        ///< events of `on_failure`: one commit with the end (P13)
  std::vector<run_id> open_children_; ///< cancelled when this run is stopped (P7)
  rare<std::string> park_reason_;
  rare<std::string> damage_; ///< why the memo cannot be trusted (F23)
  rare<failure> timed_out_;

  state state_ = state::running;
  bool more_ = false;      ///< the memo goes on in the store
  bool loading_ = false;   ///< and that part is on its way
  bool replaying_ = false; ///< until the first ask that is not in the memo
  bool resuming_ = false;  ///< and this is that ask: all of it was in the memo
  bool wait_cut_ = false;  ///< a wait was cut: the stored wake-up is too late (I20)
  bool asking_ = false;
  bool ready_ = false; ///< the group is settled: resume the waiter
  bool count_crash_ = false;
  bool crash_saving_ = false;
  bool last_straw_ = false;
  bool row_stale_ = false; ///< the stored row says less than ours
  bool watch_calm_ = false;
  bool slots_away_ = false;
  bool by_person_ = false;
  bool cancel_told_ = false;
  rare<std::string> cancel_first_;
};

} // namespace sluice
