#pragma once

#include "tests/support/world.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A node with nothing but its gates to look at.
inline const catalog no_flows{};

/// Somebody outside of the node who asks for passes and remembers what came back.
class gate_client {
public:
  explicit gate_client(world& w);
  ~gate_client();
  gate_client(const gate_client&) = delete;
  gate_client& operator=(const gate_client&) = delete;

  /// Asks and goes on; nothing runs meanwhile.
  token ask(const pass_request& what);
  /// Asks and lets the world run while time stands still; nothing: it is held.
  std::optional<pass_answered> ask_now(const pass_request& what);
  [[nodiscard]] std::optional<pass_answered> answer(token id) const;
  void finish(const pass_request& what, std::uint64_t permit, pass_outcome outcome,
              rate_report rate = {});
  /// So many in a row, without passes.
  void finish_many(const std::string& service, pass_outcome outcome, std::uint32_t count);
  void watch(const std::string& service);

  std::vector<token> order; ///< in which answers came
  std::vector<circuit_changed> changes;

private:
  world& world_;
  caf::actor actor_;
  std::map<token, pass_answered> answers_;
  token last_ = 0;
};

/// Workers that always have something to send: ask, send, finish, again; wait when told to.
class gate_fleet {
public:
  gate_fleet(world& w, std::uint32_t workers, pass_request what, duration takes);
  ~gate_fleet();
  gate_fleet(const gate_fleet&) = delete;
  gate_fleet& operator=(const gate_fleet&) = delete;

  /// The node came back: everybody asks again.
  void restart();
  /// What the next answers tell about the provider's budget.
  rate_report rate{};

  std::vector<timestamp> sent; ///< the provider's log
  std::uint64_t waits = 0;
  std::uint64_t failures = 0;

private:
  world& world_;
  std::uint32_t workers_;
  pass_request what_;
  duration takes_;
  caf::actor actor_;
  std::uint64_t life_ = 0; ///< of the node, so that timers of an earlier one are nothing

  caf::behavior behave(caf::event_based_actor* self);
};

/// The most that any window of this length has in a log.
std::uint32_t densest_window(std::vector<timestamp> log, duration length);

http_response plain_response(int status, std::string body = {});

} // namespace sluice
