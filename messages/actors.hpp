#pragma once

#include "messages/delivery.hpp"
#include "messages/gates.hpp"
#include "messages/http.hpp"
#include "messages/inspection.hpp"
#include "messages/reads.hpp"
#include "messages/type_ids.hpp"
#include "messages/work.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// The typed interface of every actor. Read this first: it is the map of who says what to whom.
///
/// Where thousands of questions may be open at once, the asker sends a token and gets a message
/// back (guides/caf-0.17.md, section 4); where few are, a request is answered.
namespace sluice {

// -- sinks: what an actor must understand to be answered -----------------------

using commit_sink = caf::typed_actor<caf::reacts_to<appended>>;
using event_sink = caf::typed_actor<caf::reacts_to<events_found>>;
using http_sink = caf::typed_actor<caf::reacts_to<http_answered>>;
using http_many_sink = caf::typed_actor<caf::reacts_to<http_answered_many>>;
using pass_sink = caf::typed_actor<caf::reacts_to<pass_answered>>;
using circuit_sink = caf::typed_actor<caf::reacts_to<circuit_changed>>;
using delivery_sink =
  caf::typed_actor<caf::reacts_to<page_delivered>, caf::reacts_to<delivery_stalled>>;
using wake_sink = caf::typed_actor<caf::reacts_to<wake_runs>>;

/// Every actor tells its card.
using inspected_actor = caf::typed_actor<caf::replies_to<inspect_atom>::with<actor_card>>;

// -- messages that carry a sink ------------------------------------------------

/// Writes `ops` in one commit, together with whatever else arrived; `from` is told when it is
/// durable (an invalid handle: nobody is).
struct append {
  commit_sink from;
  token id = 0;
  std::vector<op> ops;
  bool droppable = false; ///< a request from outside: a full store refuses it
  bool patient = false;   ///< needs no commit of its own: goes with the next one that does
};

struct ask_events {
  event_sink from;
  std::vector<event_question> questions;
};

/// Takes questions back; kinds and subjects as they were asked.
struct forget_events {
  event_sink from;
  std::vector<token> ids;
  std::vector<std::string> kinds;
  std::vector<std::string> subjects;
};

struct arm_timers {
  wake_sink from;
  std::vector<timer> timers;
};

struct http_send {
  http_sink from;
  token id = 0;
  http_request request;
};

struct http_abort {
  http_sink from;
  token id = 0;
};

/// Sends `like` once per body. Each is answered once, in any order, several in one message: for
/// whoever has hundreds to send, so that no message is spent on a single one.
struct http_send_many {
  http_many_sink from;
  std::shared_ptr<const http_request> like; ///< the same object where it is the same request
  std::vector<http_body> bodies;
};

struct http_abort_many {
  http_many_sink from;
  std::vector<token> ids;
};

struct acquire_pass;

/// One gate of a request, as the others see it.
using gate_actor = caf::typed_actor<caf::reacts_to<acquire_pass>, caf::reacts_to<request_finished>>;

/// Asks the gatekeeper for a pass; answered by exactly one `pass_answered`. The gatekeeper fills in
/// the rest: who is on the way. A gate passes it on, holds it for at most 2 s, or answers with a
/// wait and takes the permit back from the gates before it.
struct acquire_pass {
  pass_sink from;
  token id = 0;
  pass_request what;
  std::uint64_t permit = 0;
  bool probe = false;
  gate_actor circuit;
  gate_actor limiter;
  gate_actor refresher;
};

struct watch_circuit {
  circuit_sink from;
  std::string service;
};

/// Sends the events of a page; answered by one `page_delivered` when each is accepted or refused
/// for good. An acknowledgement is in the journal before the answer, or in the same batch as it.
struct deliver_page {
  delivery_sink from;
  token id = 0;
  std::shared_ptr<page_parcels> page;
};

/// Sends nothing more of a page; POSTs under way are aborted. Not answered.
struct abort_delivery {
  delivery_sink from;
  token id = 0;
};

struct core_actors;

// -- actors ---------------------------------------------------------------------

/// Who hears what the journal commits.
using event_observer =
  caf::typed_actor<caf::reacts_to<events_committed>, caf::reacts_to<store_changed>>;

struct observe_journal {
  event_observer who;
};

/// The only writer. One commit per batch of what lies in the mailbox; detached.
using journal_actor =
  inspected_actor::extend<caf::reacts_to<append>, caf::reacts_to<observe_journal>,
                          caf::replies_to<flush_journal>::with<flushed>, caf::reacts_to<flush_atom>,
                          caf::reacts_to<retry_atom>>;

/// All reads of the store, for everyone; detached.
using reader_actor = inspected_actor::extend<
  caf::replies_to<load_runs>::with<live_run_page>, caf::replies_to<load_steps>::with<step_page>,
  caf::replies_to<load_marks>::with<marks_loaded>, caf::replies_to<find_due>::with<due_runs>,
  caf::replies_to<find_events>::with<found_events>, caf::replies_to<find_keys>::with<found_keys>,
  caf::replies_to<find_run>::with<run_found>, caf::replies_to<query_runs>::with<run_page>,
  caf::replies_to<load_table>::with<table_page>, caf::replies_to<read_stats>::with<store_stats>>;

/// Durable timers: wakes hosts when something of theirs is due; finds lost ones by rescan.
using timekeeper_actor =
  inspected_actor::extend<caf::reacts_to<arm_timers>, caf::reacts_to<core_actors>,
                          caf::reacts_to<tick_atom>, caf::reacts_to<rescan_atom>>;

/// Requests in, responses out, over one curl loop.
using http_client_actor =
  inspected_actor::extend<caf::reacts_to<http_send>, caf::reacts_to<http_abort>,
                          caf::reacts_to<http_send_many>, caf::reacts_to<http_abort_many>>;

/// Finds or makes the gate of each key, and hands questions and outcomes to it.
using gatekeeper_actor =
  inspected_actor::extend<caf::reacts_to<core_actors>, caf::reacts_to<acquire_pass>,
                          caf::reacts_to<request_finished>, caf::reacts_to<watch_circuit>,
                          caf::reacts_to<tick_atom>>;

/// First gate, one per service: fails fast while the service is not well (H1).
using circuit_breaker_actor =
  inspected_actor::extend<caf::reacts_to<acquire_pass>, caf::reacts_to<request_finished>,
                          caf::reacts_to<watch_circuit>, caf::reacts_to<tick_atom>>;

/// Second gate, one per installation and bucket: the only place that knows a budget (B14).
using rate_limiter_actor =
  inspected_actor::extend<caf::reacts_to<acquire_pass>, caf::reacts_to<request_finished>,
                          caf::reacts_to<appended>, caf::reacts_to<tick_atom>>;

/// Last gate, one per connection: has a fresh token, asks the gateway once for all (B12).
using token_refresher_actor =
  inspected_actor::extend<caf::reacts_to<acquire_pass>, caf::reacts_to<request_finished>,
                          caf::reacts_to<pass_answered>, caf::reacts_to<http_answered>,
                          caf::reacts_to<appended>, caf::reacts_to<tick_atom>>;

/// Sends pages of events to the user's gateway: bounded, pages and tenants in turn, fewer at once
/// while the gateway is slow, none but a probe while its circuit is open (B15, B22).
using gateway_actor =
  inspected_actor::extend<caf::reacts_to<core_actors>, caf::reacts_to<deliver_page>,
                          caf::reacts_to<abort_delivery>, caf::reacts_to<http_answered_many>,
                          caf::reacts_to<appended>, caf::reacts_to<circuit_changed>,
                          caf::reacts_to<pass_answered>, caf::reacts_to<tick_atom>>;

/// Drives the coroutines of many runs: replay, steps, attempts, cancel.
using run_host_actor = inspected_actor::extend<
  caf::reacts_to<core_actors>, caf::reacts_to<start_runs>, caf::reacts_to<appended>,
  caf::reacts_to<events_found>, caf::reacts_to<wake_runs>, caf::reacts_to<slots_granted>,
  caf::reacts_to<http_answered>, caf::reacts_to<pass_answered>, caf::reacts_to<page_delivered>,
  caf::reacts_to<delivery_stalled>, caf::reacts_to<cancel_runs>,
  caf::replies_to<cancel_run>::with<run_stopped>, caf::replies_to<look_at_run>::with<run_look>,
  caf::replies_to<count_runs>::with<run_counts>, caf::replies_to<drain_runs>::with<drained>>;

/// Gives out slots (P9, P10) and starts runs on hosts; knows where every live run is.
using admission_actor = inspected_actor::extend<
  caf::reacts_to<core_actors>, caf::reacts_to<runs_requested>, caf::reacts_to<slots_returned>,
  caf::reacts_to<slots_wanted>, caf::reacts_to<runs_left>, caf::reacts_to<runs_calm>,
  caf::reacts_to<cancel_runs>, caf::reacts_to<wake_runs>, caf::reacts_to<appended>,
  caf::reacts_to<tick_atom>, caf::replies_to<recover>::with<recovered>,
  caf::replies_to<cancel_run>::with<run_stopped>, caf::replies_to<resume_run>::with<run_resumed>,
  caf::replies_to<look_at_run>::with<run_look>, caf::replies_to<count_runs>::with<run_counts>,
  caf::replies_to<drain_runs>::with<drained>>;

/// Appends events and run requests once; wakes whoever waits for them.
using event_log_actor = inspected_actor::extend<
  caf::reacts_to<core_actors>, caf::replies_to<request_runs>::with<runs_accepted>,
  caf::replies_to<publish_event>::with<event_published>,
  caf::replies_to<find_live_runs>::with<live_runs_found>, caf::reacts_to<ask_events>,
  caf::reacts_to<forget_events>, caf::reacts_to<events_committed>, caf::reacts_to<store_changed>,
  caf::reacts_to<appended>, caf::replies_to<read_stats>::with<store_changed>,
  caf::reacts_to<retry_atom>>;

/// Removes what ended long ago, in slices (J10).
using retention_actor =
  inspected_actor::extend<caf::reacts_to<core_actors>, caf::reacts_to<tick_atom>,
                          caf::reacts_to<appended>>;

/// Knows every actor and collects their cards.
struct know_actor {
  inspected_actor who;
};

using inspector_actor =
  inspected_actor::extend<caf::reacts_to<know_actor>,
                          caf::replies_to<list_atom>::with<std::vector<actor_card>>>;

/// Ends the node in order: admit nobody, let steps under way finish up to a deadline, flush, mark
/// the journal clean. Answered when that is done.
struct end_node {
  duration drain_timeout{10'000};
};

struct node_ended {
  bool drained = true; ///< false: the deadline came first; those steps run again at the next start
};

/// Watches the others: the core lives and dies as one, because the journal makes dying cheap.
using supervisor_actor =
  inspected_actor::extend<caf::reacts_to<core_actors>, caf::replies_to<end_node>::with<node_ended>>;

/// Handles that the actors of the core need of each other, sent once when all are there.
struct core_actors {
  journal_actor journal;
  reader_actor reader;
  event_log_actor event_log;
  admission_actor admission;
  timekeeper_actor timekeeper;
  http_client_actor http_client;
  inspector_actor inspector;
  retention_actor retention;
  gatekeeper_actor gatekeeper;
  gateway_actor gateway;
  std::vector<run_host_actor> hosts;
};

} // namespace sluice

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::appended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::events_found)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::http_answered)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::http_answered_many)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::http_send_many)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::http_abort_many)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::wake_runs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::append)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::delivery_stalled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::page_delivered)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::abort_delivery)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::deliver_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ask_events)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::forget_events)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::arm_timers)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::http_send)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::http_abort)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::acquire_pass)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::pass_answered)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::request_finished)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::watch_circuit)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::circuit_changed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::core_actors)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::observe_journal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::know_actor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::events_committed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::store_changed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::flush_journal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::flushed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::load_runs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::live_run_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::load_steps)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::step_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::load_marks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::marks_loaded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::find_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::due_runs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::find_events)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::found_events)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::find_keys)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::found_keys)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::find_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::run_found)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::query_runs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::run_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::load_table)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::table_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::read_stats)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::store_stats)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::request_runs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::runs_accepted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::find_live_runs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::live_runs_found)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::publish_event)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::event_published)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::runs_requested)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::start_runs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::slots_returned)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::slots_wanted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::slots_granted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::runs_left)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::runs_calm)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::cancel_runs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::cancel_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::run_stopped)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::resume_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::run_resumed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::look_at_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::run_look)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::recover)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::recovered)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::count_runs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::run_counts)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::drain_runs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::drained)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::end_node)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::node_ended)
