#include "sandbox/gateway.hpp"

#include "base/json.hpp"
#include "sandbox/envelope.hpp"

namespace sluice::sandbox {

namespace receiving {

http::response problem(int status, std::string_view code, std::string_view text) {
  json::writer w;
  w.obj().key("error").str(code).key("message").str(text).end();
  return json_answer(status, w.take());
}

std::string connection_json(const world& w, connection_ref c) {
  json::writer out;
  out.obj().key("id").str(w.id_of(c)).key("provider").str(to_string(c.from));
  out.key("externalId").str(w.external_id_of(c)).key("orgId").str(w.org_of(c));
  out.key("status").str("active").key("resources").arr();
  for (std::uint32_t i = 1; i <= w.resources(c); ++i) {
    const resource_ref r{c, i};
    out.obj().key("id").str("res-" + w.id_of(c) + "-" + std::to_string(i));
    out.key("providerResourceId").str(w.provider_id_of(r));
    out.key("resourceName").str(w.known_name_of(r)).end();
  }
  out.end();
  auto put_all = [&](std::string_view key, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    out.key(key).arr();
    for (const auto& text : texts)
      out.str(text);
    out.end();
  };
  put_all("scopes", w.about().scopes);
  put_all("disabledEventTypes", w.about().disabled_types);
  return out.end().take();
}

std::string token_json(service_state& s, connection_ref c) {
  json::writer w;
  w.obj().key("accessToken").str(s.keys.issue(c, s.now()));
  w.key("provider").str(to_string(c.from));
  w.key("expiresIn").num(std::int64_t{s.about().token_ttl.count() / 1000}).end();
  return w.take();
}

bool complete(const envelope& e) {
  return !e.connection.empty() && !e.org.empty() && !e.delivery.empty() && !e.event_type.empty()
         && !e.received_at.empty() && !e.item.empty();
}

/// Is it the event of the connection that it names? (B19)
bool well_addressed(const envelope& e, const world& w, std::string_view provider) {
  const auto c = w.connection(e.connection);
  if (!c || to_string(c->from) != provider || w.org_of(*c) != e.org) return false;
  constexpr std::string_view prefix = "backfill-";
  if (!e.delivery.starts_with(prefix)) return false;
  const auto rest = e.delivery.substr(prefix.size());
  return rest.starts_with(e.connection) && rest.substr(e.connection.size()).starts_with('-');
}

} // namespace receiving

http::response gateway::delayed(http::response r) const {
  r.delay = state_.about().faults.gateway_latency;
  return r;
}

bool gateway::is_down() {
  const auto& f = state_.about().faults;
  if (f.down_for.count() == 0 || state_.book.delivered() < f.down_after) return false;
  const auto now = to_millis(state_.now());
  std::int64_t from = 0;
  if (down_from_ms_.compare_exchange_strong(from, now)) from = now;
  return now < from + f.down_for.count();
}

std::optional<http::response> gateway::refusal(const http::request& r) {
  if (is_down()) {
    state_.book.counts.add(counter::calls_while_down);
    return receiving::problem(503, "unavailable", "the gateway is down");
  }
  if (r.header("X-API-Key") == state_.about().api_key) return std::nullopt;
  state_.book.counts.add(counter::unauthorized);
  return receiving::problem(401, "unauthorized", "X-API-Key is missing or wrong");
}

std::optional<http::response> gateway::fault(std::uint64_t what, std::uint32_t nth) {
  const auto& f = state_.about().faults;
  const auto& chance = state_.chance;
  const auto error = static_cast<std::uint64_t>(salt::gateway_error);
  const auto busy = static_cast<std::uint64_t>(salt::gateway_busy);
  if (chance.hits(f.gateway_errors, what, nth, error)) {
    state_.book.counts.add(counter::gateway_faults);
    const auto roll = chance.roll(what, nth, error) % 3;
    return receiving::problem(roll == 0 ? 500 : roll == 1 ? 502 : 503, "fault", "a fault by flag");
  }
  if (!chance.hits(f.gateway_busy, what, nth, busy)) return std::nullopt;
  state_.book.counts.add(counter::gateway_faults);
  auto r = receiving::problem(429, "too_many_requests", "slow down");
  if (chance.roll(what, nth, busy) % 2 == 0) r.headers.push_back({"Retry-After", "1"});
  return r;
}

http::response gateway::answer(const service_request& r) {
  const bool connections = r.path.size() >= 2 && r.path[0] == "connections";
  const bool token = connections && r.path.size() == 3;
  state_.book.counts.add(token         ? counter::gateway_tokens
                         : connections ? counter::gateway_connections
                                       : counter::other);
  if (auto refused = refusal(r.whole)) return delayed(std::move(*refused));
  std::uint32_t nth = 0;
  const auto& f = state_.about().faults;
  if (f.gateway_errors > 0 || f.gateway_busy > 0) {
    const std::lock_guard hold{mutex_};
    nth = calls_[r.whole.target]++;
  }
  if (auto hit = fault(hash64(r.whole.target), nth)) return delayed(std::move(*hit));
  return delayed(route(r));
}

http::response gateway::route(const service_request& r) {
  if (r.path.size() < 2 || r.path.size() > 3 || r.path[0] != "connections"
      || r.whole.method != "GET" || (r.path.size() == 3 && r.path[2] != "token"))
    return receiving::problem(404, "not_found", "no such call");
  const auto c = state_.there.connection(r.path[1]);
  if (!c) return receiving::problem(404, "not_found", "no such connection");
  if (r.path.size() == 2) {
    state_.book.fetches.asked_about(*c);
    return json_answer(200, receiving::connection_json(state_.there, *c));
  }
  state_.book.counts.add(counter::tokens_issued);
  return json_answer(200, receiving::token_json(state_, *c));
}

http::response gateway::take_event(const http::request& r, std::string_view provider) {
  auto& book = state_.book;
  book.counts.add(counter::gateway_webhooks);
  if (auto refused = refusal(r)) return delayed(std::move(*refused));
  std::uint64_t id = 0;
  auto length_of = [&](std::string_view delivery) {
    id = ledger::id_of(delivery);
    return book.length_of(id);
  };
  const auto event = read_envelope(r.body, length_of);
  if (!event || !receiving::complete(*event)) {
    book.counts.add(counter::malformed);
    return delayed(receiving::problem(400, "malformed", "the event cannot be read"));
  }
  if (!receiving::well_addressed(*event, state_.there, provider)) {
    book.counts.add(counter::misaddressed);
    return delayed(receiving::problem(400, "misaddressed", "connection, org and id disagree"));
  }
  return delayed(accept(r, *event));
}

http::response gateway::accept(const http::request& r, const envelope& e) {
  auto& book = state_.book;
  const auto id = ledger::id_of(e.delivery);
  const auto nth = book.asked(id);
  if (book.is_poison(id)) {
    book.counts.add(counter::poison_answers);
    return receiving::problem(400, "poison", "this event is never taken");
  }
  if (auto hit = fault(id, nth)) return std::move(*hit);
  auto digest = hash64(e.item);
  // The length of the item was a guess; who does not match gets a closer look.
  if (!book.was_served(id, digest)) {
    const auto again = read_envelope(r.body);
    if (again) digest = hash64(again->item);
  }
  const auto before = book.accept(id, digest, state_.now());
  auto answer = before > 0 && state_.about().dedupe
                  ? receiving::problem(409, "duplicate", "this event is there already")
                  : json_answer(202, R"({"accepted":true})");
  if (state_.chance.hits(state_.about().faults.lost_answers, id, nth,
                         static_cast<std::uint64_t>(salt::lost_answer))) {
    book.counts.add(counter::lost_answers);
    answer.lost = true;
  }
  return answer;
}

} // namespace sluice::sandbox
