#pragma once

#include "actors/gates.hpp"
#include "actors/observed.hpp"
#include "base/secret.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <string>

namespace sluice {

/// The token of one connection, in memory only (S7, S8): the journal has its generation, which is
/// written before the token is given to anybody and only grows (I16). Whoever names a rejected
/// generation waits for the next; one request to the gateway serves all of them (B12). That request
/// passes the gateway's own circuit. A token is renewed before it ends.
struct token_refresher_state {
  explicit token_refresher_state(token_refresher_actor::pointer p) : self{p} {}
  static inline const char* name = "token-refresher";

  enum class phase : std::uint8_t { idle, loading, asking, fetching, saving };

  struct credential {
    secret text;
    std::string provider;
    std::uint64_t generation = 0;
    timestamp expires_at{}; ///< `never`: not known
    duration margin{};      ///< it is renewed so long before
    bool repeated = false;  ///< the gateway gave the same text as before
  };

  token_refresher_actor::pointer self;
  actor_activity activity;
  gate_parts parts;
  std::string connection;
  phase doing = phase::idle;
  bool loaded = false;
  credential current;
  credential fetched;         ///< not yet given out: its generation is not durable
  std::uint64_t newest = 0;   ///< the highest generation ever stored
  std::uint64_t rejected = 0; ///< the highest that somebody was refused with
  std::uint32_t failures = 0; ///< in a row
  timestamp retry_at{};       ///< the gateway is not asked before
  std::string retry_reason;   ///< what those are told that ask meanwhile
  std::uint64_t permit = 0;   ///< of the request to the gateway
  token question = 0;
  std::deque<held_pass> held;
  timestamp tick_at{};

  void acquire(acquire_pass& order);
  void passed(const pass_answered& answer);
  void answered(http_answered& answer);
  void saved(const appended& done);
  void tick();

  void start();
  void load();
  void fetch();
  bool read(http_response& response);
  void give(const acquire_pass& order);
  void give_all();
  void postpone(timestamp until, std::string reason);
  void give_up(const error& why);
  void turn_away(const acquire_pass& order, pass_answered answer);
  void answer_late();
  [[nodiscard]] bool usable() const;
  [[nodiscard]] bool ends_soon() const;
  [[nodiscard]] timestamp now() const { return parts.clock.now(self->clock().now()); }
  [[nodiscard]] std::string row_key() const { return gate_row_key("token", {connection}); }
};

token_refresher_actor::behavior_type
token_refresher(token_refresher_actor::stateful_pointer<token_refresher_state> self,
                gate_parts parts, std::string connection);

} // namespace sluice
