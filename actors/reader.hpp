#pragma once

#include "actors/observed.hpp"
#include "messages/actors.hpp"
#include "storage/store.hpp"

#include <caf/typed_event_based_actor.hpp>

namespace sluice {

/// Reads the store for everyone, one question at a time. Detached in a node, so that a cold page
/// holds up no other actor. Holds nothing open between two messages (F26).
struct reader_state {
  explicit reader_state(reader_actor::pointer) {}
  static inline const char* name = "reader";

  actor_activity activity;
};

reader_actor::behavior_type reader(reader_actor::stateful_pointer<reader_state> self, store* disk);

} // namespace sluice
