#include "api/actors.hpp"

#include "base/json.hpp"

namespace sluice::api {

void list_actors(api_state& s, const call_ptr& c) {
  ask(s, c, s.core.inspector, s.config.answer_timeout, list_atom_v,
      [c](const std::vector<actor_card>& cards) {
        json::writer w;
        w.obj().key("actors").arr();
        for (const auto& card : cards) {
          w.obj().key("kind").str(card.kind).key("id").num(card.id).key("label").str(card.label);
          w.key("mailbox").num(card.mailbox).key("state").str(card.state);
          w.key("handled").num(card.handled).key("busyUs").num(card.busy_us);
          w.key("waitsFor").str(card.waits_for).end();
        }
        c->answer(200, w.end().end().take());
      });
}

} // namespace sluice::api
