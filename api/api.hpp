#pragma once

#include "api/call.hpp"
#include "api/watch.hpp"
#include "base/clock.hpp"
#include "base/uuid.hpp"
#include "http/exchange.hpp"
#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sluice::api {

/// One request from the server. Stays inside this process.
struct api_request {
  http::request request;
  http::responder reply;
};

} // namespace sluice::api

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::api::api_request)

namespace sluice::api {

/// The HTTP contract: checks what comes in, asks the actors of the core, words the answer.
using api_actor = inspected_actor::extend<caf::reacts_to<api_request>, caf::reacts_to<tick_atom>>;

/// A provider that can be backfilled, and the types of entities that it has.
struct known_provider {
  std::string name;
  std::vector<std::string> entities;
};

struct api_config {
  std::size_t open_max = 256;      ///< calls at once; more are answered 503
  duration answer_timeout{10'000}; ///< for one question to an actor
  duration cancel_timeout{60'000}; ///< a cancel is answered when the work has stopped (P11)
  std::size_t watchers_max = 64;   ///< streams of events at once; more are answered 503
  duration watch_interval{500};    ///< how often a run that is watched is looked at
  duration heartbeat{15'000};      ///< a silent stream says that it is still there
  std::vector<known_provider> providers{};
};

struct api_state {
  explicit api_state(api_actor::pointer p) : self{p} {}
  static inline const char* name = "api";

  api_actor::pointer self;
  engine_clock clock;
  uuid_source ids;
  core_actors core;
  api_config config;
  std::shared_ptr<int> tickets = std::make_shared<int>();
  std::uint64_t handled = 0;
  watch_book watches;

  [[nodiscard]] std::size_t open() const noexcept {
    return static_cast<std::size_t>(tickets.use_count()) - 1;
  }

  void take(api_request& r);
};

api_actor::behavior_type api(api_actor::stateful_pointer<api_state> self, engine_clock clock,
                             uuid_source ids, core_actors core, api_config config);

/// What a server needs to hand its requests to `to`.
[[nodiscard]] std::function<void(http::request, http::responder)> handler_for(api_actor to);

/// Asks an actor; an error ends the call in J12's shape.
template <class Handle, class Question, class Then>
void ask(api_state& s, const call_ptr& c, const Handle& whom, duration timeout, Question question,
         Then then) {
  s.self->request(whom, timeout, std::move(question)).then(std::move(then), [c](const error& e) {
    c->fail(e);
  });
}

} // namespace sluice::api
