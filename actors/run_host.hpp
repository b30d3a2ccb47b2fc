#pragma once

#include "actors/observed.hpp"
#include "base/clock.hpp"
#include "base/uuid.hpp"
#include "messages/actors.hpp"
#include "workflows/catalog.hpp"
#include "workflows/machine.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

/// What every host of a node is given.
struct host_config {
  const catalog* flows = nullptr;
  engine_clock clock;
  uuid_source ids;
  run_limits limits;
  std::string label; ///< shown by the inspector
};

/// Drives the coroutines of many runs. Runs decide, in `machine`; the host carries: it hands each
/// fact to the run that it is for and, at the end of each message, sends out what all of them
/// wanted, one message per receiver. A few hosts share all runs; a workflow whose catalog entry
/// says so has a host per run.
struct run_host_state {
  explicit run_host_state(run_host_actor::pointer p) : self{p} {}
  static inline const char* name = "run-host";

  struct place {
    std::unique_ptr<machine> run;
    std::uint32_t tenancy = 0;
    std::vector<token> watches; ///< questions about events that cancel it
    token gate = 0;             ///< the question after which it begins
  };

  struct question {
    run_ref who;
    std::uint32_t ordinal = 0; ///< of the operation that asks, or `cancels`
    std::string kind;
    std::string subject;
  };
  static constexpr std::uint32_t cancels = 0xFFFF'FFFA;

  struct commit {
    token id = 0;
    std::vector<commit_ref> who;
  };

  run_host_actor::pointer self;
  actor_activity activity;
  /// A question of a run to the world.
  struct outside_call {
    enum class kind_of : std::uint8_t { http, pass, delivery, read };
    run_ref who;
    kind_of kind = kind_of::http;
    bool dropped = false; ///< of a pass: nobody wants it any more
    pass_request pass;
  };

  host_config config;
  core_actors core;
  effects out;

  std::vector<place> places;
  std::vector<std::uint32_t> vacant;
  std::unordered_map<run_id, std::uint32_t> by_id;
  std::deque<commit> commits; ///< sent to the journal, oldest first
  std::unordered_map<token, question> questions;
  std::unordered_map<token, outside_call> calls;
  std::deque<run_start> to_load;  ///< resumed runs whose memos are not here yet
  std::vector<run_start> loading; ///< those that the reader was asked for
  std::unordered_map<run_id, std::optional<std::string>> expected; ///< both; why one is cancelled
  std::vector<effects::load> to_fetch; ///< parts of memos that could not be read
  std::unordered_map<run_id, std::vector<caf::typed_response_promise<run_stopped>>> stoppers;
  std::vector<caf::typed_response_promise<drained>> drainers;

  void read_clock(); ///< of a handler: what time it is
  void carry();      ///< at its end: sends what the runs want
  machine* find(run_ref who);
  machine* find(run_id run);
  run_ref take_place(run_start start);
  void take_up(start_runs& order);
  void load_next();
  void loaded(step_page& page);
  void take_in(run_start start, run_memo memo, bool more);
  bool look_for_cancels(run_ref who, const machine& run, bool resumed);
  void fetch(const effects::load& want);
  void fetch_again(const effects::load& want, const caf::error& why);
  void committed(const appended& done);
  void answered(events_found& found);
  void ask_outside(effects::call& call);
  template <class Question>
  void ask_reader(token id, Question what);
  void drop(token id);
  void responded(token id, outside_answer answer);
  void passed(pass_answered& answer);
  caf::result<run_stopped> cancel(const cancel_run& order);
  void remove(run_ref who);
  void send_questions();
  void forget(const std::vector<token>& ids);
  void check_drained();
  run_counts count() const;
};

run_host_actor::behavior_type run_host(run_host_actor::stateful_pointer<run_host_state> self,
                                       host_config config);

} // namespace sluice
