#pragma once

#include "actors/observed.hpp"
#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <memory>
#include <unordered_map>
#include <vector>

namespace sluice {

/// Knows every actor and asks them for their cards. One that does not answer in time has a card
/// that says so: that is what one wants to see.
struct inspector_state {
  explicit inspector_state(inspector_actor::pointer p) : self{p} {}
  static inline const char* name = "inspector";

  /// One listing under way; asks a few at a time (guides/caf-0.17.md, rule 2).
  struct listing {
    caf::typed_response_promise<std::vector<actor_card>> answer;
    std::vector<inspected_actor> actors;
    std::vector<actor_card> cards;
    std::size_t next = 0;
    std::size_t open = 0;
  };

  inspector_actor::pointer self;
  actor_activity activity;
  std::unordered_map<caf::actor_id, inspected_actor> known;

  void know(const inspected_actor& who);
  void list(std::shared_ptr<listing> l);
};

inspector_actor::behavior_type inspector(inspector_actor::stateful_pointer<inspector_state> self);

} // namespace sluice
