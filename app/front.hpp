#pragma once

#include "base/clock.hpp"
#include "http/server.hpp"

#include <atomic>

namespace sluice {

/// Stands between the server and the API: answers by itself while the node starts, and turns away
/// what would change something while it stops. May be called from every thread.
class front {
public:
  explicit front(engine_clock clock) : clock_{clock} {}

  /// Recovery is done: requests go to `api` from now on. Once.
  void open(http::request_handler api);
  /// The node stops: not ready, and only GET and HEAD still reach the API.
  void close() noexcept;

  void take(http::request request, http::responder reply) const;

private:
  enum class phase { starting, serving, stopping };

  engine_clock clock_;
  http::request_handler api_; ///< written before the phase leaves `starting`
  std::atomic<phase> phase_{phase::starting};
};

} // namespace sluice
