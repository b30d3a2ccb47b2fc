#include "tests/support/network.hpp"

#include <algorithm>

namespace sluice {

namespace {

/// Answers a request after the network's delay, by whatever the world's network is then, unless the
/// node crashed meanwhile.
void answer_later(http_client_actor::stateful_pointer<network_state> self, const network_wiring& w,
                  network_state::open_call what) {
  if (!*w.wire) return;
  ++w.owner->requests_sent;
  const auto call = self->state.next++;
  auto open = self->state.open;
  const auto delay = w.owner->latency ? w.owner->latency(what.request) : w.delay;
  open->emplace(call, std::move(what));
  auto answer = [open, w, call, delay](caf::event_based_actor* timer) {
    auto node = open->extract(call);
    if (node.empty() || !*w.wire) return;
    auto& asked = node.mapped();
    http_response response;
    if (w.owner->network)
      response = w.owner->network(asked.request);
    else
      response.error = "no network in this world";
    response.elapsed = delay;
    if (!asked.many) {
      timer->send(asked.from, http_answered{asked.id, std::move(response)});
      return;
    }
    http_answered_many one;
    one.answers.push_back({asked.id, std::move(response), std::move(asked.request.body)});
    timer->send(asked.many, std::move(one));
  };
  self->system().spawn([answer, delay](caf::event_based_actor* timer) {
    timer->delayed_send(timer, delay, tick_atom_v);
    return caf::behavior{[timer, answer](tick_atom) {
      answer(timer);
      timer->quit();
    }};
  });
}

} // namespace

http_client_actor::behavior_type
network_actor(http_client_actor::stateful_pointer<network_state> self, network_wiring w) {
  auto abort = [self, w](auto meant) {
    const auto gone =
      std::erase_if(*self->state.open, [&](const auto& c) { return meant(c.second); });
    w.owner->requests_aborted += gone;
  };
  return {
    [self](inspect_atom) { return card_of(self, "virtual"); },
    [self, w](http_send& order) {
      answer_later(self, w, {order.from, {}, order.id, std::move(order.request)});
    },
    [abort](const http_abort& order) {
      abort([&](const auto& c) { return c.id == order.id && c.from == order.from; });
    },
    [self, w](http_send_many& order) {
      for (auto& b : order.bodies) {
        auto request = *order.like;
        request.body = std::move(b.body);
        answer_later(self, w, {{}, order.from, b.id, std::move(request)});
      }
    },
    [abort](const http_abort_many& order) {
      abort([&](const auto& c) {
        return c.many == order.from && std::ranges::find(order.ids, c.id) != order.ids.end();
      });
    },
  };
}

} // namespace sluice
