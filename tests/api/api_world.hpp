#pragma once

#include "api/api.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice::test {

/// What the stand-ins for the core answer, and what they were asked.
struct script {
  std::function<caf::result<runs_accepted>(const request_runs&)> start;
  std::function<caf::result<event_published>(const publish_event&)> publish;
  std::function<caf::result<live_runs_found>(const find_live_runs&)> live;
  std::function<caf::result<run_page>(const query_runs&)> query;
  std::function<caf::result<run_found>(const find_run&)> find;
  std::function<caf::result<step_page>(const load_steps&)> steps;
  std::function<caf::result<table_page>(const load_table&)> table;
  std::function<caf::result<run_stopped>(const cancel_run&)> cancel;
  std::function<caf::result<run_resumed>(const resume_run&)> resume;
  std::function<run_look(const look_at_run&)> look_at; ///< else `look`
  run_look look;
  run_counts counts;
  store_changed store;
};

/// The answer of a stand-in that the test gave no words.
inline caf::error unexpected() {
  return make_error(errc::internal, "the test expects no question");
}

template <class Answer, class F, class Question>
caf::result<Answer> say(const F& f, const Question& q) {
  if (!f) return unexpected();
  return f(q);
}

inline event_log_actor::behavior_type event_log_stand_in(event_log_actor::pointer, script* s) {
  return {
    [](inspect_atom) { return actor_card{}; },
    [](const core_actors&) {},
    [s](const request_runs& q) { return say<runs_accepted>(s->start, q); },
    [s](const publish_event& q) { return say<event_published>(s->publish, q); },
    [s](const find_live_runs& q) { return say<live_runs_found>(s->live, q); },
    [](const ask_events&) {},
    [](const forget_events&) {},
    [](const events_committed&) {},
    [](const store_changed&) {},
    [](const appended&) {},
    [s](const read_stats&) { return s->store; },
    [](retry_atom) {},
  };
}

inline reader_actor::behavior_type reader_stand_in(reader_actor::pointer, script* s) {
  return {
    [](inspect_atom) { return actor_card{}; },
    [](const load_runs&) -> caf::result<live_run_page> { return unexpected(); },
    [s](const load_steps& q) { return say<step_page>(s->steps, q); },
    [](const load_marks&) -> caf::result<marks_loaded> { return unexpected(); },
    [](const find_due&) -> caf::result<due_runs> { return unexpected(); },
    [](const find_events&) -> caf::result<found_events> { return unexpected(); },
    [](const find_keys&) -> caf::result<found_keys> { return unexpected(); },
    [s](const find_run& q) { return say<run_found>(s->find, q); },
    [s](const query_runs& q) { return say<run_page>(s->query, q); },
    [s](const load_table& q) { return say<table_page>(s->table, q); },
    [](const read_stats&) -> caf::result<store_stats> { return unexpected(); },
  };
}

inline admission_actor::behavior_type admission_stand_in(admission_actor::pointer, script* s) {
  return {
    [](inspect_atom) { return actor_card{}; },
    [](const core_actors&) {},
    [](const runs_requested&) {},
    [](const slots_returned&) {},
    [](const slots_wanted&) {},
    [](const runs_left&) {},
    [](const runs_calm&) {},
    [](const cancel_runs&) {},
    [](const wake_runs&) {},
    [](const appended&) {},
    [](tick_atom) {},
    [](const recover&) -> caf::result<recovered> { return unexpected(); },
    [s](const cancel_run& q) { return say<run_stopped>(s->cancel, q); },
    [s](const resume_run& q) { return say<run_resumed>(s->resume, q); },
    [s](const look_at_run& q) { return s->look_at ? s->look_at(q) : s->look; },
    [s](const count_runs&) { return s->counts; },
    [](const drain_runs&) -> caf::result<drained> { return unexpected(); },
  };
}

/// The API with stand-ins, in virtual time, on the test's own thread.
class api_world {
public:
  explicit api_world(api::api_config config = {}) {
    core_.event_log = sys_.spawn(event_log_stand_in, &does);
    core_.reader = sys_.spawn(reader_stand_in, &does);
    core_.admission = sys_.spawn(admission_stand_in, &does);
    const engine_clock clock{from_millis(1'700'000'000'000), sys_.clock().now()};
    api_ = sys_.spawn(api::api, clock, uuid_source{7}, core_, config);
  }

  ~api_world() {
    end_core();
    caf::anon_send_exit(api_, caf::exit_reason::user_shutdown);
    sched_.run();
  }

  /// Sends a request; the answer is in the returned place once the world has settled.
  std::shared_ptr<std::optional<http::response>> send(http::request r) {
    auto place = std::make_shared<std::optional<http::response>>();
    auto take = [place](std::optional<http::response> answer) { *place = std::move(answer); };
    api::handler_for(api_)(std::move(r), http::responder{take});
    return place;
  }

  http::response ask(std::string method, std::string target, std::string body = {},
                     std::vector<http::field> headers = {}) {
    auto place = send({std::move(method), std::move(target), std::move(headers), std::move(body)});
    sched_.run();
    return place->value_or(http::response{0, "no answer", "", {}});
  }

  void pass_time(duration d) {
    sched_.advance_time(d);
    sched_.run();
  }

  void settle() { sched_.run(); }

  void end_core() {
    caf::anon_send_exit(core_.event_log, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(core_.reader, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(core_.admission, caf::exit_reason::user_shutdown);
    sched_.run();
  }

  script does;

private:
  struct world_config : caf::actor_system_config {
    world_config() {
      add_message_types<caf::id_block::sluice>();
      set("scheduler.policy", caf::atom("testing"));
    }
  };

  world_config config_;
  caf::actor_system sys_{config_};
  caf::scheduler::test_coordinator& sched_ =
    dynamic_cast<caf::scheduler::test_coordinator&>(sys_.scheduler());
  core_actors core_;
  api::api_actor api_;
};

inline std::string header(const http::response& r, std::string_view name) {
  for (const auto& f : r.headers) {
    if (http::same_name(f.name, name)) return f.value;
  }
  return {};
}

} // namespace sluice::test
