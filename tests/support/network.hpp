#pragma once

#include "actors/observed.hpp"
#include "messages/actors.hpp"
#include "tests/support/world.hpp"

#include <caf/stateful_actor.hpp>

#include <cstdint>
#include <map>
#include <memory>

namespace sluice {

struct network_state {
  explicit network_state(http_client_actor::pointer) {}
  static inline const char* name = "http-client";
  actor_activity activity;
  struct open_call {
    http_sink from;
    http_many_sink many; ///< instead of `from`
    token id = 0;
    http_request request;
  };
  /// Shared with the calls' own timers, which may outlive this actor.
  std::shared_ptr<std::map<std::uint64_t, open_call>> open =
    std::make_shared<std::map<std::uint64_t, open_call>>();
  std::uint64_t next = 0;
};

struct network_wiring {
  world* owner = nullptr;
  std::shared_ptr<bool> wire;
  duration delay{};
};

/// The http client of a world, with the interface of the real one: each request is answered after
/// the network's delay, by whatever the world's network is then, unless the node crashed meanwhile.
http_client_actor::behavior_type
network_actor(http_client_actor::stateful_pointer<network_state> self, network_wiring w);

} // namespace sluice
