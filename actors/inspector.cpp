#include "actors/inspector.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

namespace {

constexpr std::size_t open_max = 32;
constexpr auto patience = std::chrono::seconds{1};

} // namespace

void inspector_state::know(const inspected_actor& who) {
  if (known.emplace(who.id(), who).second) self->monitor(who);
}

void inspector_state::list(std::shared_ptr<listing> l) {
  while (l->next < l->actors.size() && l->open < open_max) {
    const auto& who = l->actors[l->next++];
    ++l->open;
    auto done = [this, l](actor_card card) {
      l->cards.push_back(std::move(card));
      --l->open;
      list(l);
    };
    self->request(who, patience, inspect_atom_v)
      .then([done](actor_card& card) { done(std::move(card)); },
            [done, id = who.id()](const caf::error&) {
              actor_card silent;
              silent.kind = "unknown";
              silent.id = id;
              silent.state = "no answer within 1 s";
              done(std::move(silent));
            });
  }
  if (l->open != 0 || !l->answer.pending()) return;
  std::sort(l->cards.begin(), l->cards.end(),
            [](const actor_card& a, const actor_card& b) { return a.id < b.id; });
  l->answer.deliver(std::move(l->cards));
}

inspector_actor::behavior_type inspector(inspector_actor::stateful_pointer<inspector_state> self) {
  self->set_down_handler(
    [self](const caf::down_msg& down) { self->state.known.erase(down.source.id()); });
  return {
    [self](inspect_atom) {
      return card_of(self, std::to_string(self->state.known.size()) + " actors known");
    },
    counted(self, [self](const know_actor& k) { self->state.know(k.who); }),
    counted(self,
            [self](list_atom) -> caf::result<std::vector<actor_card>> {
              auto l = std::make_shared<inspector_state::listing>();
              l->answer = self->make_response_promise<std::vector<actor_card>>();
              for (const auto& [id, who] : self->state.known)
                l->actors.push_back(who);
              auto promise = l->answer;
              self->state.list(l);
              return promise;
            }),
  };
}

} // namespace sluice
