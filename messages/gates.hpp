#pragma once

#include "base/error.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"
#include "messages/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>

/// What workers and the three gates of a request say to each other. A worker asks once; circuit
/// breaker, rate limiter and token refresher hand the question on, and the last of them answers.
/// Every pass that was granted ends in one `request_finished`, also when nothing was sent.
namespace sluice {

/// What a request needs. No bucket: no rate limiter is asked; no connection: no token is given. A
/// call to the gateway names only its service and the installation it is for.
struct pass_request {
  std::string service;      ///< whose circuit: the provider's name, or `gateway`
  std::string installation; ///< whose budget; also whose turn it is (B22)
  std::string bucket;       ///< which budget of the provider: `core`, an endpoint …
  std::string connection;   ///< whose token
  std::uint32_t cost = 1;
  std::uint64_t rejected_generation = 0; ///< after a 401: that of the token it was sent with
};

/// Lets one request out. The token is never written anywhere (S7); its generation may be.
struct pass {
  std::uint64_t permit = 0; ///< names this pass in its `request_finished`
  secret access_token;      ///< empty: no connection was named
  std::uint64_t generation = 0;
  bool probe = false; ///< the one request by which a circuit finds out whether to close
};

/// One of three: `granted`; or wait until `wait_until` and ask again; or `failed`, for good.
struct pass_answered {
  token id = 0;
  std::optional<pass> granted;
  timestamp wait_until{};
  std::string reason; ///< of a wait: `circuit open: github`, `rate limit: core`, `token`
  error failed;       ///< the token cannot be had; none: it is granted or a wait
};

/// How a request went, as far as gates care.
enum class pass_outcome : std::uint8_t {
  success,  ///< an answer, whatever it said: 4xx is one
  failure,  ///< no answer, or 5xx: the service is not well
  not_sent, ///< nothing went out: probe and permit go back
  dropped,  ///< sent, but nobody waits for the answer: the permit is used, a probe goes back
  limited,  ///< an answer that says: too many; `rate` says until when
};

/// What an answer told about the provider's own budget. Nothing of it: nothing is known.
struct rate_report {
  std::uint32_t limit = 0;
  duration window{}; ///< for which `limit` holds; 0: for as long as the configured one
  std::optional<std::uint32_t> remaining;
  timestamp reset_at{};      ///< when `remaining` is `limit` again
  timestamp blocked_until{}; ///< Retry-After, or what a secondary limit asks for
  bool all_buckets = false;  ///< `blocked_until` holds for the whole installation
};

/// The end of a pass, or of `count` requests without one that ended alike, in a row: the delivery
/// of the gateway is told about its circuit instead of asking for each POST.
struct request_finished {
  std::uint64_t permit = 0; ///< 0: without a pass
  std::string service;
  std::string installation;
  std::string bucket;
  pass_outcome outcome = pass_outcome::success;
  std::uint32_t count = 1;
  rate_report rate{};
};

[[nodiscard]] inline request_finished finished(const pass_request& what, std::uint64_t permit,
                                               pass_outcome outcome, rate_report rate = {}) {
  return {permit, what.service, what.installation, what.bucket, outcome, 1, rate};
}

enum class circuit_status : std::uint8_t { closed = 0, open = 1, half_open = 2 };

/// Told at once when somebody begins to watch, then at every change. When it is half open, whoever
/// has something to send asks for a pass: one of them gets the probe.
struct circuit_changed {
  std::string service;
  circuit_status status = circuit_status::closed;
  timestamp until{}; ///< of an open one: when it will be half open
};

} // namespace sluice
