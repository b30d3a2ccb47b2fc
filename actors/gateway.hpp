#pragma once

#include "actors/gates.hpp"
#include "actors/observed.hpp"
#include "base/clock.hpp"
#include "messages/actors.hpp"
#include "rules/delivery.hpp"
#include "rules/delivery_queue.hpp"
#include "rules/flow.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice {

struct gateway_config {
  gateway_access access{};
  std::uint32_t in_flight = 30;      ///< POSTs in all
  std::uint32_t page_in_flight = 10; ///< POSTs of one page
  std::uint32_t ack_group = 32;      ///< acknowledgements that are journaled together
  duration ack_delay{50};            ///< no acknowledgement waits longer to be journaled
  delivery_config tries{};
  flow_config flow{}; ///< its `limit_max` is `in_flight`
};

/// Sends pages of events to the user's gateway (B15). `rules/delivery_queue` says which event is
/// next, `rules/flow` how many may be under way, `rules/delivery` what an answer means; this
/// carries it out.
///
/// What a crash sends again (B16): POSTs under way, and those accepted whose acknowledgement is not
/// durable yet. Both together never exceed `in_flight` + 2 · `ack_group`: with that many nothing
/// more is sent until the journal has answered. Acknowledgements of a page that is complete are not
/// written here: the step of the run that follows says that all is delivered.
struct gateway_state {
  explicit gateway_state(gateway_actor::pointer p) : self{p} {}
  static inline const char* name = "gateway";

  /// What a page's sink is told, and was.
  struct stall {
    timestamp until{}; ///< `never`: it goes on
    std::string reason;
    friend bool operator==(const stall&, const stall&) = default;
  };
  struct caller {
    delivery_sink from;
    token id = 0;
    stall told;
    std::string trouble; ///< of its newest event that failed
  };
  struct flight {
    std::uint64_t page = 0;
    std::uint32_t index = 0;
    std::uint32_t round = 0;    ///< of `speed`
    std::uint64_t permit = 0;   ///< of a probe
    std::size_t body_bytes = 0; ///< of the event, without what was added to it
  };
  /// The one pass that is asked for while the circuit is half open.
  struct probe_ask {
    token asked = 0;        ///< 0: not asked
    bool under_way = false; ///< its POST
    timestamp not_before{}; ///< the gate said so
  };

  gateway_actor::pointer self;
  actor_activity activity;
  engine_clock clock;
  gateway_config config;
  core_actors core;
  delivery_queue queue{10};
  flow speed;
  std::unordered_map<std::uint64_t, caller> callers; ///< by number of the page
  std::unordered_map<token, flight> flying;
  std::map<std::string, std::shared_ptr<const http_request>> requests; ///< by provider
  std::uint64_t last_page = 0;
  token last_token = 0;
  std::uint64_t posts = 0;
  std::uint64_t accepted = 0;
  timestamp tick_at{};

  // what it waits for
  std::optional<circuit_changed> circuit; ///< none: not told yet
  probe_ask probe;
  std::string fault; ///< why the circuit opened, where more is known than that it did
  stall paused;      ///< by Retry-After
  stall told_all;    ///< the newest stall that concerns every page
  bool troubled = false;
  std::size_t stalled = 0; ///< pages whose sinks were told that they wait
  pass_outcome outcome = pass_outcome::success;
  std::uint32_t outcomes = 0; ///< alike, in a row, not reported yet

  // acknowledgements that are not durable
  std::uint32_t unmarked = 0;  ///< of pages under way, not handed to the journal
  std::uint32_t completed = 0; ///< of pages that were complete; their runs journal them
  struct ack_group {
    std::uint32_t count = 0;
    bool patient = false;
  };
  std::unordered_map<token, ack_group> handed; ///< to the journal, by its token
  std::uint32_t patient = 0;   ///< of those, in groups that wait for another's commit
  std::uint32_t undurable = 0; ///< all of them
  timestamp unmarked_since{};

  [[nodiscard]] timestamp now() const { return clock.now(self->clock().now()); }

  void deliver(deliver_page& order);
  void abort(const abort_delivery& order);
  void answered(http_answered_many& m);
  void written(const appended& m);
  void changed(circuit_changed& m);
  void passed(pass_answered& m);
  void tick();
  /// Its state and what it waits for.
  [[nodiscard]] std::pair<std::string, std::string> in_words() const;

private:
  using orders =
    std::vector<std::pair<std::shared_ptr<const http_request>, std::vector<http_body>>>;

  // gateway.cpp
  void carry_on();
  void pump(timestamp time);
  void post(const delivery_queue::item& what, std::uint64_t permit, const std::string& end,
            orders& out);
  void hand_out(orders& out);
  std::shared_ptr<const http_request> request_to(const std::string& provider);
  void settle(const flight& f, http_answered& a, timestamp time);
  void complete(page_delivery& p);
  enum class hurry : bool { no, yes };
  void hand_marks(timestamp time, hurry h);
  void arm(timestamp time);

  // gateway_circuit.cpp
  [[nodiscard]] bool is_closed() const;
  void report(const flight& f, delivery_verdict verdict, const http_response& response,
              timestamp time);
  void report_outcomes();
  void give_back(std::uint64_t permit);
  void ask_probe(timestamp time);
  [[nodiscard]] stall stall_of_all(timestamp time) const;
  [[nodiscard]] static stall stall_of(const page_delivery& p, const caller& c, timestamp time);
  void tell_stalls(timestamp time);
};

gateway_actor::behavior_type gateway(gateway_actor::stateful_pointer<gateway_state> self,
                                     engine_clock clock, gateway_config config);

} // namespace sluice
