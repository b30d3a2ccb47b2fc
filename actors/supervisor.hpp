#pragma once

#include "actors/observed.hpp"
#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <functional>
#include <string>
#include <unordered_map>

namespace sluice {

/// Watches the actors of the core. One that dies unasked has broken an invariant of ours or lost
/// the store: the node ends (docs/decisions/0004-fail-stop.md) and the next start goes on from the
/// journal. Ends the node in order when it is told to.
struct supervisor_state {
  explicit supervisor_state(supervisor_actor::pointer p) : self{p} {}
  static inline const char* name = "supervisor";

  supervisor_actor::pointer self;
  actor_activity activity;
  core_actors core;
  std::unordered_map<caf::actor_id, std::string> watched;
  std::function<void(std::string)> on_death; ///< called at most once
  bool ending = false;
  std::size_t draining = 0;
  caf::typed_response_promise<node_ended> answer;

  void watch(const core_actors& all);
  void end(const end_node& order);
  void one_drained();
  void flush(bool drained);
};

supervisor_actor::behavior_type
supervisor(supervisor_actor::stateful_pointer<supervisor_state> self,
           std::function<void(std::string)> on_death);

} // namespace sluice
