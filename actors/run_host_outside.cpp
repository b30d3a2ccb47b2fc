#include "actors/run_host.hpp"

#include <caf/stateful_actor.hpp>

#include <type_traits>

/// What runs ask of the world outside, and what comes back.
namespace sluice {

void run_host_state::ask_outside(effects::call& call) {
  auto& entry = calls[call.id];
  entry.who = call.run;
  if (auto* request = std::get_if<http_request>(&call.what)) {
    self->send(core.http_client,
               http_send{caf::actor_cast<http_sink>(self), call.id, std::move(*request)});
  } else if (auto* wanted = std::get_if<pass_request>(&call.what)) {
    entry.kind = outside_call::kind_of::pass;
    entry.pass = *wanted;
    acquire_pass ask;
    ask.from = caf::actor_cast<pass_sink>(self);
    ask.id = call.id;
    ask.what = std::move(*wanted);
    self->send(core.gatekeeper, std::move(ask));
  } else if (auto* page = std::get_if<std::shared_ptr<page_parcels>>(&call.what)) {
    entry.kind = outside_call::kind_of::delivery;
    self->send(core.gateway,
               deliver_page{caf::actor_cast<delivery_sink>(self), call.id, std::move(*page)});
  } else if (auto* marks = std::get_if<load_marks>(&call.what)) {
    entry.kind = outside_call::kind_of::read;
    ask_reader(call.id, *marks);
  } else if (auto* rows = std::get_if<load_table>(&call.what)) {
    entry.kind = outside_call::kind_of::read;
    ask_reader(call.id, std::move(*rows));
  }
}

template <class Question>
void run_host_state::ask_reader(token id, Question what) {
  auto answered = [this, id](auto& answer) {
    read_clock();
    responded(id, std::move(answer));
    carry();
  };
  using answer = std::conditional_t<std::is_same_v<Question, load_marks>, marks_loaded, table_page>;
  self->request(core.reader, caf::infinite, std::move(what))
    .then([answered](answer& found) { answered(found); },
          [answered](caf::error& failed) { answered(failed); });
}

/// The run no longer wants the answer.
void run_host_state::drop(token id) {
  auto call = calls.find(id);
  if (call == calls.end()) return;
  switch (call->second.kind) {
  case outside_call::kind_of::http:
    self->send(core.http_client, http_abort{caf::actor_cast<http_sink>(self), id});
    break;
  case outside_call::kind_of::delivery:
    self->send(core.gateway, abort_delivery{caf::actor_cast<delivery_sink>(self), id});
    break;
  case outside_call::kind_of::pass:
    // Its pass may be on the way, and must go back then.
    call->second.dropped = true;
    return;
  case outside_call::kind_of::read:
    break;
  }
  calls.erase(call);
}

void run_host_state::responded(token id, outside_answer answer) {
  auto node = calls.extract(id);
  if (node.empty()) return;
  if (auto* run = find(node.mapped().who)) run->responded(out, id, std::move(answer));
}

void run_host_state::passed(pass_answered& answer) {
  auto call = calls.find(answer.id);
  if (call == calls.end()) return;
  if (answer.granted && (call->second.dropped || find(call->second.who) == nullptr))
    self->send(core.gatekeeper,
               finished(call->second.pass, answer.granted->permit, pass_outcome::not_sent));
  const auto id = answer.id;
  responded(id, std::move(answer));
}

} // namespace sluice
