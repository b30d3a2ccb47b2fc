#include "actors/gateway.hpp"

#include "base/hash.hpp"
#include "http/percent.hpp"
#include "http/url.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>

namespace sluice {

namespace {

/// Why an event was refused, for people: the answer's first line is mostly a sentence.
std::string what_it_said(const http_response& answer) {
  constexpr std::size_t shown = 200;
  if (!answer.error.empty()) return answer.error;
  auto text = "HTTP " + std::to_string(answer.status);
  if (!answer.body.empty()) text += ": " + answer.body.substr(0, shown);
  return text;
}

} // namespace

// -- pages -----------------------------------------------------------------------

void gateway_state::deliver(deliver_page& order) {
  if (!order.from || !order.page) return;
  const auto number = ++last_page;
  callers[number] = {std::move(order.from), order.id, {}, {}};
  auto& p = queue.add(number, std::move(order.page));
  if (p.done()) complete(p);
  carry_on();
}

void gateway_state::abort(const abort_delivery& order) {
  auto meant = [&](const auto& c) {
    return c.second.id == order.id && c.second.from == order.from;
  };
  const auto known = std::find_if(callers.begin(), callers.end(), meant);
  if (known == callers.end()) return;
  const auto number = known->first;
  http_abort_many call_off;
  std::erase_if(flying, [&](const auto& f) {
    if (f.second.page != number) return false;
    call_off.ids.push_back(f.first);
    if (f.second.permit != 0) give_back(f.second.permit);
    return true;
  });
  if (!call_off.ids.empty()) {
    call_off.from = caf::actor_cast<http_many_sink>(self);
    self->send(core.http_client, std::move(call_off));
  }
  if (queue.find(number)->unmarked != 0) hand_marks(now(), hurry::yes);
  if (known->second.told.until != never) --stalled;
  callers.erase(known);
  queue.remove(number);
  carry_on();
}

void gateway_state::complete(page_delivery& p) {
  auto node = callers.extract(p.number);
  auto& to = node.mapped();
  if (to.told.until != never) --stalled;
  self->send(to.from, page_delivered{to.id, std::move(p.accepted), std::move(p.refused), p.sent});
  unmarked -= p.unmarked;
  completed += p.unmarked;
  queue.remove(p.number);
}

// -- POSTs -----------------------------------------------------------------------

/// What follows every message.
void gateway_state::carry_on() {
  const auto time = now();
  pump(time);
  const auto here = unmarked + completed;
  if (here + patient >= config.ack_group * 7 / 4)
    hand_marks(time, hurry::yes);
  else if (here != 0 && here >= config.ack_group * 3 / 4)
    hand_marks(time, hurry::no);
  tell_stalls(time);
  arm(time);
}

void gateway_state::pump(timestamp time) {
  if (config.access.url.empty() || !circuit || paused.until > time) return;
  paused = {};
  if (circuit->status == circuit_status::half_open) ask_probe(time);
  if (!is_closed()) return;
  const auto bound = config.in_flight + 2 * config.ack_group;
  const auto end = std::to_string(to_millis(time)) + "}";
  orders out;
  while (queue.in_flight() < speed.limit() && queue.in_flight() + undurable < bound) {
    const auto next = queue.next(time);
    if (!next) break;
    post(*next, 0, end, out);
  }
  hand_out(out);
}

void gateway_state::post(const delivery_queue::item& what, std::uint64_t permit,
                         const std::string& end, orders& out) {
  const auto& page = *what.page->page;
  http_body b{++last_token, std::move(what.page->page->items[what.index].body)};
  flying[b.id] = {what.page->number, what.index, speed.round(), permit, b.body.size()};
  b.body.append(end);
  ++posts;
  auto like = request_to(page.provider);
  auto same = std::ranges::find(out, like, &orders::value_type::first);
  if (same == out.end()) same = out.insert(out.end(), {std::move(like), {}});
  same->second.push_back(std::move(b));
}

void gateway_state::hand_out(orders& out) {
  for (auto& [like, bodies] : out)
    self->send(core.http_client, http_send_many{caf::actor_cast<http_many_sink>(self),
                                                std::move(like), std::move(bodies)});
}

std::shared_ptr<const http_request> gateway_state::request_to(const std::string& provider) {
  auto& known = requests[provider];
  if (known) return known;
  const auto path = "/webhooks/" + http::percent_encode(provider);
  http_request made;
  made.method = "POST";
  auto base = http::url::parse(config.access.url);
  auto at = base ? base->join(path) : base;
  made.url = at ? at->text() : config.access.url + path;
  made.headers.push_back({"Content-Type", "application/json"});
  made.headers.push_back({"X-API-Key", std::string{config.access.api_key.reveal()}, true});
  known = std::make_shared<const http_request>(std::move(made));
  return known;
}

void gateway_state::answered(http_answered_many& m) {
  const auto time = now();
  for (auto& a : m.answers) {
    auto node = flying.extract(a.id);
    if (!node.empty()) settle(node.mapped(), a, time); // else it was called off
  }
  if (outcome != pass_outcome::success || outcomes >= config.ack_group) report_outcomes();
  carry_on();
}

void gateway_state::settle(const flight& f, http_answered& a, timestamp time) {
  auto& p = *queue.find(f.page);
  auto& response = a.response;
  const auto verdict = judge(response);
  const bool closed = is_closed();
  report(f, verdict, response, time);
  if (verdict == delivery_verdict::accepted) {
    if (unmarked + completed + patient == 0) unmarked_since = time;
    ++unmarked;
    ++undurable;
    ++accepted;
    queue.accepted(p, f.index);
  } else {
    auto& tries = p.tries[f.index];
    auto& item = p.page->items[f.index];
    item.body = std::move(a.sent);
    item.body.resize(f.body_bytes);
    const auto entropy = hash64(item.delivery_id);
    const auto then =
      after_delivery(verdict, tries, {closed, accepted, time}, config.tries, entropy);
    troubled = true;
    if (then.next == delivery_next::give_up) {
      queue.refused(p, {f.index, tries.sent, response.status, what_it_said(response)});
    } else {
      callers.at(f.page).trouble = what_it_said(response);
      queue.again(p, f.index, then.at);
    }
  }
  if (p.done()) complete(p);
}

// -- acknowledgements -----------------------------------------------------------------

/// All that are not with the journal yet, in one append. Those of complete pages are journaled by
/// their runs, about now: whatever is appended from here on is written after them. Without hurry
/// they are written with the next commit that somebody waits for, which is mostly soon.
void gateway_state::hand_marks(timestamp time, hurry h) {
  append order;
  order.from = caf::actor_cast<commit_sink>(self);
  order.id = ++last_token;
  order.patient = h == hurry::no;
  queue.each([&](page_delivery& p) {
    if (p.unmarked == 0) return;
    p.unmarked = 0;
    order.ops.push_back(put_marks{p.page->run, p.page->unit, p.page->page, p.accepted});
  });
  handed[order.id] = {unmarked + completed, order.patient};
  if (order.patient) {
    patient += unmarked + completed;
  } else {
    for (auto& [id, group] : handed)
      group.patient = false;
    patient = 0;
    unmarked_since = time;
  }
  unmarked = 0;
  completed = 0;
  self->send(core.journal, std::move(order));
}

void gateway_state::written(const appended& m) {
  for (const auto id : m.ids) {
    auto node = handed.extract(id);
    if (node.empty()) continue;
    undurable -= node.mapped().count;
    if (!node.mapped().patient) continue;
    patient -= node.mapped().count;
    if (patient == 0) unmarked_since = now();
  }
  carry_on();
}

// -- time -----------------------------------------------------------------------------

void gateway_state::tick() {
  const auto time = now();
  // One that was armed before an earlier one was: without this each would arm its own successor.
  if (tick_at == never || time < tick_at) return;
  tick_at = never;
  if (unmarked + completed + patient != 0 && unmarked_since + config.ack_delay <= time) {
    hand_marks(time, hurry::yes);
    report_outcomes();
  }
  carry_on();
}

void gateway_state::arm(timestamp time) {
  auto at = [&](timestamp t) {
    // What is due and was not done waits for something else than time.
    if (t > time) arm_tick(self, clock, tick_at, t);
  };
  if (unmarked + completed + patient != 0) at(unmarked_since + config.ack_delay);
  if (queue.pages() == 0 || !circuit || circuit->status == circuit_status::open) return;
  at(paused.until);
  at(queue.earliest_retry());
  if (circuit->status == circuit_status::half_open) at(probe.not_before);
}

// -- behaviour -------------------------------------------------------------------------

std::pair<std::string, std::string> gateway_state::in_words() const {
  const auto time = now();
  auto text = std::to_string(queue.in_flight()) + " in flight of " + std::to_string(speed.limit())
              + ", " + std::to_string(queue.pages() - queue.waiting()) + " pages under way, "
              + std::to_string(queue.waiting()) + " waiting, " + std::to_string(posts)
              + " posts so far";
  std::string waits;
  if (const auto all = stall_of_all(time); all.until != never)
    waits = all.reason + " until " + to_rfc3339(all.until);
  else if (queue.in_flight() != 0)
    waits = "the gateway";
  else if (queue.pages() != 0)
    waits = undurable >= config.in_flight ? "the journal" : "the next attempt";
  return {std::move(text), std::move(waits)};
}

gateway_actor::behavior_type gateway(gateway_actor::stateful_pointer<gateway_state> self,
                                     engine_clock clock, gateway_config config) {
  auto& s = self->state;
  s.clock = clock;
  s.queue = delivery_queue{config.page_in_flight};
  config.flow.limit_max = config.in_flight;
  s.speed = flow{config.flow};
  s.config = std::move(config);
  return {
    [self](inspect_atom) {
      auto [text, waits] = self->state.in_words();
      return card_of(self, std::move(text), std::move(waits));
    },
    [self](core_actors& core) {
      auto& st = self->state;
      st.core = std::move(core);
      self->send(st.core.gatekeeper,
                 watch_circuit{caf::actor_cast<circuit_sink>(self), gateway_service});
    },
    counted(self, [self](deliver_page& order) { self->state.deliver(order); }),
    counted(self, [self](const abort_delivery& order) { self->state.abort(order); }),
    counted(self, [self](http_answered_many& m) { self->state.answered(m); }),
    counted(self, [self](const appended& m) { self->state.written(m); }),
    counted(self, [self](circuit_changed& m) { self->state.changed(m); }),
    counted(self, [self](pass_answered& m) { self->state.passed(m); }),
    counted(self, [self](tick_atom) { self->state.tick(); }),
  };
}

} // namespace sluice
