#pragma once

#include "actors/observed.hpp"
#include "http/curl_loop.hpp"
#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <memory>
#include <unordered_map>

namespace sluice {

class open_requests;

/// Requests in, responses out. Every `http_send` is answered exactly once, by an `http_answered`
/// with its token, straight from the loop's thread: a busy mailbox here delays no answer. The same
/// holds for each body of an `http_send_many`, whose answers come several in one message.
/// `http_abort` hastens that answer; a token that is not open is nothing to do. When this actor
/// ends, whatever is open is answered with `aborted`. Nothing of it survives a restart: a step that
/// has no result asks again.
struct http_client_state {
  explicit http_client_state(http_client_actor::pointer p) : self{p} {}
  static inline const char* name = "http-client";

  http_client_actor::pointer self;
  actor_activity activity;
  std::uint64_t last_id = 0;
  std::shared_ptr<open_requests> open;
  std::unique_ptr<http::curl_loop> loop;

  /// Where the answers of each sink of many go.
  std::unordered_map<caf::actor_id, http::curl_loop::outlet_ptr> outlets;

  void send(http_send& order);
  void abort(const http_abort& order);
  void send_many(http_send_many& order);
  void abort_many(http_abort_many& order);
};

http_client_actor::behavior_type
http_client(http_client_actor::stateful_pointer<http_client_state> self,
            const http::curl_options& options);

} // namespace sluice
