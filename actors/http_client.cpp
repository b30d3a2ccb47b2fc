#include "actors/http_client.hpp"

#include "base/hash.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace sluice {

/// Which id of the loop a sink's token has: written by the actor, cleaned by the loop's thread.
class open_requests {
public:
  void add(const http_sink& from, token t, std::uint64_t id) {
    std::lock_guard lock{mutex_};
    ids_[{from->id(), t}] = id;
  }

  /// A sink that used a token twice keeps the entry of its newer request.
  void remove(const http_sink& from, token t, std::uint64_t id) {
    std::lock_guard lock{mutex_};
    auto it = ids_.find({from->id(), t});
    if (it != ids_.end() && it->second == id) ids_.erase(it);
  }

  /// 0: not open.
  std::uint64_t find(const http_sink& from, token t) {
    std::lock_guard lock{mutex_};
    auto it = ids_.find({from->id(), t});
    return it == ids_.end() ? 0 : it->second;
  }

  std::size_t size() {
    std::lock_guard lock{mutex_};
    return ids_.size();
  }

private:
  using key = std::pair<caf::actor_id, token>;
  struct hash {
    std::size_t operator()(const key& k) const noexcept { return mix64(k.first, k.second); }
  };

  std::mutex mutex_;
  std::unordered_map<key, std::uint64_t, hash> ids_;
};

void http_client_state::send(http_send& order) {
  if (!order.from) return;
  const auto id = ++last_id;
  open->add(order.from, order.id, id);
  auto done = [table = open, from = order.from, t = order.id](std::uint64_t which,
                                                              http_response response) {
    table->remove(from, t, which);
    caf::anon_send(from, http_answered{t, std::move(response)});
  };
  loop->start(id, std::move(order.request), std::move(done));
}

void http_client_state::abort(const http_abort& order) {
  if (!order.from) return;
  if (const auto id = open->find(order.from, order.id); id != 0) loop->abort(id);
}

void http_client_state::send_many(http_send_many& order) {
  if (!order.from || !order.like) return;
  auto& outlet = outlets[order.from.id()];
  if (!outlet) {
    auto deliver = [from = order.from](std::vector<http_answered> answers) {
      caf::anon_send(from, http_answered_many{std::move(answers)});
    };
    outlet = std::make_shared<http::curl_loop::outlet>(std::move(deliver));
  }
  last_id += order.bodies.size();
  loop->start_many(std::move(order.like), std::move(order.bodies), outlet);
}

void http_client_state::abort_many(http_abort_many& order) {
  if (!order.from) return;
  if (auto known = outlets.find(order.from.id()); known != outlets.end())
    loop->abort_many(known->second, std::move(order.ids));
}

http_client_actor::behavior_type
http_client(http_client_actor::stateful_pointer<http_client_state> self,
            const http::curl_options& options) {
  self->state.open = std::make_shared<open_requests>();
  self->state.loop = std::make_unique<http::curl_loop>(options);
  return {
    [self](inspect_atom) {
      const auto open = self->state.open->size();
      return card_of(
        self, std::to_string(open) + " open, " + std::to_string(self->state.last_id) + " so far",
        open == 0 ? "" : "the network");
    },
    counted(self, [self](http_send& order) { self->state.send(order); }),
    counted(self, [self](const http_abort& order) { self->state.abort(order); }),
    counted(self, [self](http_send_many& order) { self->state.send_many(order); }),
    counted(self, [self](http_abort_many& order) { self->state.abort_many(order); }),
  };
}

} // namespace sluice
