#pragma once

#include "base/time.hpp"
#include "messages/event.hpp"
#include "messages/http.hpp"
#include "messages/ids.hpp"
#include "messages/journal.hpp"
#include "messages/run.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the actors of the core say to each other about runs. Lists instead of single values: on a
/// busy node one message carries what thousands of runs have to say.
namespace sluice {

// -- asking for runs and telling events ---------------------------------------

/// What becomes of a request while a run of the same workflow and installation is under way (B1). A
/// parked run is not: it holds no slot, and a person must look at it.
enum class conflict_policy : std::uint8_t {
  queue,  ///< a run of its own; the limits of the workflow make it wait
  reject, ///< `errc::already_running`
  merge,  ///< the run under way, if `workflow::covers` says that it does the work too; else `queue`
};

struct run_request {
  std::string workflow;
  std::string input = "null"; ///< JSON text
  std::string idempotency_key;
  std::string tenant;
  std::string installation;
  std::string correlation; ///< empty: one is made
  std::string traceparent; ///< empty: one is made
  conflict_policy on_conflict = conflict_policy::queue;
};

/// Durable once answered: `run.requested` and the run's row are in the journal.
struct request_runs {
  std::vector<run_request> runs;
};

struct run_accepted {
  run_id run;
  std::string correlation;
  run_status status = run_status::pending;
  bool existing = false; ///< was there already: by its idempotency key, or merged
};

struct runs_accepted {
  std::vector<run_accepted> runs;
};

/// Which runs of a workflow an installation has that have not ended, parked ones too. Runs that
/// other runs asked for do not count.
struct find_live_runs {
  std::string workflow;
  std::string installation;
};

struct live_runs_found {
  std::vector<run_id> runs; ///< oldest first
};

/// Writes an event from outside, once per idempotency key.
struct publish_event {
  event what;
};

struct event_published {
  bool existing = false;
};

/// Asks for the first event of `kind` and `subject` after a position. `last`: answer at once, with
/// nothing if there is none; else keep the question until an event comes or `forget_events`.
struct event_question {
  token id = 0;
  std::string kind;
  std::string subject;
  std::uint64_t after = 0;
  bool last = false;
};

struct event_answer {
  token id = 0;
  std::optional<event> found;
};

struct events_found {
  std::vector<event_answer> answers;
};

// -- the life of a run --------------------------------------------------------

/// A run that asked to be started, with its input.
struct requested_run {
  run_row row;
  std::string input;
  std::uint64_t first_seq = 0;
};

/// Facts that the journal committed, with their positions; those that ask for a run apart.
struct events_committed {
  std::vector<requested_run> requested;
  std::vector<event> events;
};

struct runs_requested {
  std::vector<requested_run> runs;
};

/// How a host takes a run up.
enum class start_kind : std::uint8_t {
  fresh,   ///< never ran: input is given
  resumed, ///< after a restart or a resume: memos are loaded, then it goes on
};

struct run_start {
  run_row row;
  std::string input;
  start_kind kind = start_kind::fresh;
  std::uint64_t first_seq = 0;
  std::uint64_t last_result_seq = 0;
  timestamp admitted_at{};
  bool count_crash = false; ///< raise the crash count before its first effect (4.7)
  bool suspect = false;     ///< tell the admission when it is calm
  bool last_straw = false;  ///< parks instead of raising it once more (I17)
  bool by_person = false;   ///< resumed by a person: a step that must not be repeated is repeated
  /// Set: do not run it, end it as cancelled.
  std::optional<std::string> cancel_reason;
  bool cancel_told = false; ///< the event log has the cancellation already
};

struct start_runs {
  std::vector<run_start> runs;
};

/// Runs that gave their slots back until they wake (P9).
struct slots_returned {
  std::vector<run_id> runs;
};

/// Runs that woke and want their slots again.
struct slots_wanted {
  std::vector<run_id> runs;
};

struct slots_granted {
  std::vector<run_id> runs;
};

struct run_departure {
  run_row row; ///< terminal or parked
  std::uint64_t first_seq = 0;
};

/// Runs that ended or were parked: their slots are free.
struct runs_left {
  std::vector<run_departure> runs;
};

/// Runs that committed a result or wait since they were started: the next suspect may start (4.7).
struct runs_calm {
  std::vector<run_id> runs;
};

/// Runs whose cancellation is in the event log.
struct cancel_runs {
  std::vector<run_id> runs;
};

/// Answered when the cancel is committed and the run's work has stopped, before `on_failure` (P11).
struct cancel_run {
  run_id run;
  std::string reason;
};

struct run_stopped {
  std::vector<run_id> runs; ///< the run; its children are cancelled by their own events
};

/// Takes a parked run up again.
struct resume_run {
  run_id run;
};

struct run_resumed {
  run_status status = run_status::recovering;
};

struct look_at_run {
  run_id run;
};

struct run_wait {
  std::string step;
  std::string reason; ///< `slot`, `time`, `event …`, `child …`, `retry 2`, `gate: …`, `work`
  timestamp until{};  ///< `never`: open end
};

/// What a run does this moment, as its host or the admission knows it.
struct run_look {
  bool live = false; ///< false: it ended or is unknown here; the store has the rest
  run_status status = run_status::pending;
  std::vector<run_wait> waits;
  std::string host;
};

/// Loads the unfinished runs and starts them.
struct recover {
  bool clean = false; ///< the last node ended by ordered shutdown
};

struct recovered {
  std::uint64_t runs = 0;
  std::uint64_t parked = 0;
};

/// How many runs are where.
struct count_runs {};

struct run_counts {
  std::uint64_t pending = 0;
  std::uint64_t hosted = 0;
  std::uint64_t parked = 0;
  std::uint64_t loading = 0; ///< of the hosted ones: replay not finished
  bool recovering = false;
};

// -- time and network ---------------------------------------------------------

struct timer {
  timestamp at{};
  run_id run;
};

struct wake_runs {
  std::vector<run_id> runs;
};

struct http_answered {
  token id = 0;
  http_response response;
  std::string sent{}; ///< of one of many: its body, given back
};

/// Answers to an `http_send_many`, as many as there are by now. They have status, `Retry-After`,
/// the beginning of the body, or an error.
struct http_answered_many {
  std::vector<http_answered> answers;
};

// -- journal ------------------------------------------------------------------

/// The batches with these tokens are durable.
struct appended {
  std::vector<token> ids;
  std::vector<token> refused; ///< droppable, and the store is full: nothing of them was kept
};

enum class store_state : std::uint8_t { writable, full };

struct store_changed {
  store_state state = store_state::writable;
  std::string detail;
};

/// Answered when everything that was appended before is durable.
struct flush_journal {
  bool mark_clean = false; ///< also write that this node ended by ordered shutdown
};

struct flushed {
  std::uint64_t head = 0;
};

/// Finishes steps under way and starts no more; answered when none is left.
struct drain_runs {};

struct drained {
  std::uint64_t steps_left = 0;
};

} // namespace sluice
