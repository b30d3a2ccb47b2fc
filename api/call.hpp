#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "http/exchange.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "messages/ids.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice::api {

/// One request on its way through the API, until it is answered. Shared by the handlers of the
/// questions that it sends out; dropped without an answer it becomes a 503 by itself.
class call {
public:
  http::request request;
  http::target target;
  std::vector<std::string> params; ///< of the route
  timestamp at{};
  /// `X-Correlation-Id`, or one of our own: goes into runs, events and errors, and back to the
  /// asker.
  std::string correlation;
  /// W3C trace context as it came; empty: none.
  std::string traceparent;
  http::responder reply;
  /// Counts the calls that are open, by its use count.
  std::shared_ptr<void> ticket;

  void answer(int status, std::string json) const;
  /// Begins a stream of events: what is written into `body` is sent until that is ended.
  void answer_events(std::shared_ptr<http::live_body> body) const;
  void fail(const http::problem& p, std::vector<http::field> headers = {}) const;
  void fail(const error& e) const;

private:
  void send(http::response r) const;
};

using call_ptr = std::shared_ptr<call>;

/// The run that the path names; nil after the call was answered: there is none.
[[nodiscard]] run_id run_of(const call& c);

} // namespace sluice::api
