#pragma once

#include "actors/gates.hpp"
#include "actors/observed.hpp"
#include "rules/window.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace sluice {

/// The budget of one installation and bucket. Units are reserved in the journal, some at a time,
/// before any of them is used; after a crash those that were reserved count as used, so a restart
/// grants no burst (H7, I14). A permit counts until it is finished or its lifetime is over.
struct rate_limiter_state {
  explicit rate_limiter_state(rate_limiter_actor::pointer p) : self{p} {}
  static inline const char* name = "rate-limiter";

  struct flight {
    std::uint32_t cost = 1;
    timestamp since{};
  };

  rate_limiter_actor::pointer self;
  actor_activity activity;
  gate_parts parts;
  pass_request whose; ///< service, installation, bucket
  window_config config;
  window budget;
  bool loaded = false;
  std::vector<request_finished> early; ///< outcomes that came before the row
  std::deque<held_pass> held;
  std::map<std::uint64_t, flight> flights; ///< by permit
  std::uint32_t unused = 0;                ///< reserved, durable, not given out
  std::uint32_t reserving = 0;             ///< will be once `saving` is durable
  token saving = 0;                        ///< the commit under way; 0: none
  token last_token = 0;
  bool dirty = false;  ///< `budget` is not what was written last
  bool urgent = false; ///< likewise, and others should wait too after a crash
  timestamp asked_at{};
  timestamp tick_at{};

  void load();
  void acquire(acquire_pass& order);
  void finish(const request_finished& r);
  void saved(const appended& done);
  void tick();

  void take_in(const request_finished& r);
  void pump();
  void give();
  timestamp fill_up();
  void answer_late(timestamp next);
  void save();
  void arm_timers();
  [[nodiscard]] std::uint32_t cost_of(const acquire_pass& order) const;
  [[nodiscard]] std::uint32_t chunk() const;
  [[nodiscard]] timestamp now() const { return parts.clock.now(self->clock().now()); }
  [[nodiscard]] std::string row_key() const {
    return gate_row_key("rate", {whose.service, whose.installation, whose.bucket});
  }
};

rate_limiter_actor::behavior_type
rate_limiter(rate_limiter_actor::stateful_pointer<rate_limiter_state> self, gate_parts parts,
             pass_request whose);

} // namespace sluice
