#include "actors/token_refresher.hpp"

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/percent.hpp"
#include "base/url.hpp"

#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <optional>

namespace sluice {

namespace {

constexpr duration retry_first{1000};
constexpr duration retry_max{60'000};
constexpr duration margin_max{60'000};
constexpr double lifetime_max_s = 365.0 * 24 * 3600;
constexpr std::uint64_t answer_bytes_max = 64ULL << 10;

struct stored_generation {
  std::uint64_t generation = 0;
};

template <class Fields>
void describe(Fields& f, stored_generation& x) {
  f("generation", x.generation);
}

struct token_answer {
  std::string access_token;
  std::string provider;
  std::optional<double> expires_in;
};

template <class Fields>
void describe(Fields& f, token_answer& x) {
  f("accessToken", x.access_token);
  f("provider", x.provider);
  f("expiresIn", x.expires_in);
}

/// It goes into a header as it is.
bool can_be_sent(std::string_view text) {
  return !text.empty()
         && std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

pass_outcome outcome_of(const http_response& r) {
  if (r.aborted) return pass_outcome::not_sent;
  if (!r.error.empty() || r.status >= 500) return pass_outcome::failure;
  return r.status == 429 ? pass_outcome::limited : pass_outcome::success;
}

/// Worth another try without a person.
bool is_transient(const http_response& r) {
  return !r.error.empty() || r.status >= 500 || r.status == 408 || r.status == 425
         || r.status == 429;
}

} // namespace

bool token_refresher_state::usable() const {
  if (current.text.empty() || current.generation <= rejected) return false;
  return current.expires_at == never || now() + current.margin / 3 < current.expires_at;
}

bool token_refresher_state::ends_soon() const {
  return current.expires_at != never && now() + current.margin >= current.expires_at;
}

void token_refresher_state::acquire(acquire_pass& order) {
  rejected = std::max(rejected, order.what.rejected_generation);
  if (usable()) {
    give(order);
    if (ends_soon()) start();
    return;
  }
  if (held.size() >= parts.config->held_max)
    return turn_away(order, wait_answer(now() + parts.config->hold, "token"));
  held.push_back({std::move(order), now() + parts.config->hold});
  start();
  answer_late();
}

// -- fetching ---------------------------------------------------------------------------

/// Begins a refresh unless one is under way.
void token_refresher_state::start() {
  if (doing != phase::idle) return;
  if (retry_at > now()) return postpone(retry_at, retry_reason);
  if (!loaded) return load();
  doing = phase::asking;
  acquire_pass ask;
  ask.from = caf::actor_cast<pass_sink>(self);
  ask.id = ++question;
  ask.what.service = gateway_service;
  if (!held.empty()) ask.what.installation = held.front().order.what.installation;
  self->send(parts.gatekeeper, std::move(ask));
}

void token_refresher_state::load() {
  doing = phase::loading;
  self->request(parts.reader, caf::infinite, load_table{table::limit, row_key(), {}, 1})
    .then(
      [this](const table_page& page) {
        doing = phase::idle;
        loaded = true;
        if (!page.rows.empty() && page.rows.front().key == row_key())
          if (auto stored = json::decode<stored_generation>(page.rows.front().value))
            newest = std::max(newest, stored->generation);
        start();
      },
      [this](const caf::error& e) {
        doing = phase::idle;
        log::error("loading the generation of a token failed",
                   {{"connection", connection}, {"error", to_text(e)}});
        postpone(now() + retry_first, "token");
      });
}

void token_refresher_state::passed(const pass_answered& answer) {
  if (answer.id != question || doing != phase::asking) return;
  if (!answer.granted) {
    doing = phase::idle;
    return postpone(std::max(answer.wait_until, now() + duration{1}), answer.reason);
  }
  permit = answer.granted->permit;
  fetch();
}

void token_refresher_state::fetch() {
  doing = phase::fetching;
  auto base = url::parse(parts.config->gateway.url);
  result<url> target = base ? base->join("/connections/" + percent_encode(connection) + "/token")
                            : std::move(base.error());
  if (!target) {
    doing = phase::idle;
    self->send(parts.gatekeeper,
               request_finished{permit, gateway_service, {}, {}, pass_outcome::not_sent});
    return give_up(
      make_error(errc::bad_input, parts.config->gateway.url.empty()
                                    ? "no gateway is configured: set gateway.url"
                                    : "no URL for the token: " + detail_of(target.error())));
  }
  http_send order;
  order.from = caf::actor_cast<http_sink>(self);
  order.id = question;
  order.request.url = target->text();
  order.request.body_bytes_max = answer_bytes_max;
  order.request.headers.push_back(
    {"X-API-Key", std::string{parts.config->gateway.api_key.reveal()}, true});
  order.request.headers.push_back({"Accept", "application/json"});
  self->send(parts.http_client, std::move(order));
}

void token_refresher_state::answered(http_answered& answer) {
  if (answer.id != question || doing != phase::fetching) return;
  doing = phase::idle;
  auto& r = answer.response;
  self->send(parts.gatekeeper, request_finished{permit, gateway_service, {}, {}, outcome_of(r)});
  if (is_transient(r)) {
    const auto wait = std::min(retry_first * (1 << std::min(failures, 10u)), retry_max);
    ++failures;
    log::warning("the gateway gave no token, trying again",
                 {{"connection", connection},
                  {"error", r.error.empty() ? std::to_string(r.status) : r.error}});
    return postpone(now() + wait, "token");
  }
  if (r.status == 404 || r.status == 410)
    return give_up(make_error(errc::not_found, "the gateway knows no connection " + connection));
  if (r.status != 200)
    return give_up(make_error(errc::step_failed, "the gateway refused a token for connection "
                                                   + connection + ": status "
                                                   + std::to_string(r.status)));
  if (!read(r))
    return give_up(
      make_error(errc::step_failed, "the gateway's token for connection " + connection
                                      + " cannot be used: the answer is not as agreed"));
  doing = phase::saving;
  append order{caf::actor_cast<commit_sink>(self), question, {}};
  order.ops.push_back(
    put_row{table::limit, row_key(), json::encode(stored_generation{fetched.generation})});
  self->send(parts.journal, std::move(order));
}

/// Nothing of the body reaches a log or an error, whatever is wrong with it.
bool token_refresher_state::read(http_response& response) {
  const secret body{std::move(response.body)};
  auto parsed = json::decode<token_answer>(body.reveal());
  if (!parsed) return false;
  fetched = {};
  fetched.text = secret{std::move(parsed->access_token)};
  if (!can_be_sent(fetched.text.reveal())) return false;
  fetched.provider = std::move(parsed->provider);
  fetched.generation = std::max(newest, rejected) + 1;
  fetched.repeated =
    current.generation <= rejected && fetched.text.reveal() == current.text.reveal();
  if (parsed->expires_in) {
    const auto seconds = std::clamp(*parsed->expires_in, 0.0, lifetime_max_s);
    const duration life{static_cast<duration::rep>(seconds * 1000)};
    fetched.expires_at = now() + life;
    fetched.margin = std::min(margin_max, life / 10);
  }
  return true;
}

void token_refresher_state::saved(const appended& done) {
  if (doing != phase::saving
      || std::find(done.ids.begin(), done.ids.end(), question) == done.ids.end())
    return;
  doing = phase::idle;
  newest = fetched.generation;
  current = std::exchange(fetched, {});
  failures = 0;
  retry_at = never;
  give_all();
}

// -- answering --------------------------------------------------------------------------

void token_refresher_state::give(const acquire_pass& order) {
  if (!order.what.service.empty() && !current.provider.empty()
      && current.provider != order.what.service) {
    pass_answered answer;
    answer.failed =
      make_error(errc::bad_input, "connection " + connection + " is one of " + current.provider
                                    + ", not of " + order.what.service);
    return turn_away(order, std::move(answer));
  }
  grant(self, order, current.text, current.generation);
}

void token_refresher_state::give_all() {
  for (const auto& h : std::exchange(held, {})) {
    if (current.repeated && h.order.what.rejected_generation != 0) {
      pass_answered answer;
      answer.failed = make_error(errc::step_failed, "401: the gateway has no other token for "
                                                    "connection "
                                                      + connection);
      turn_away(h.order, std::move(answer));
    } else {
      give(h.order);
    }
  }
}

void token_refresher_state::postpone(timestamp until, std::string reason) {
  retry_at = until;
  retry_reason = std::move(reason);
  for (const auto& h : std::exchange(held, {}))
    turn_away(h.order, wait_answer(until, retry_reason));
}

void token_refresher_state::give_up(const error& why) {
  log::warning("no token for a connection", {{"connection", connection}, {"error", to_text(why)}});
  retry_at = now() + retry_first;
  retry_reason = "token";
  for (const auto& h : std::exchange(held, {})) {
    pass_answered answer;
    answer.failed = why;
    turn_away(h.order, std::move(answer));
  }
}

void token_refresher_state::turn_away(const acquire_pass& order, pass_answered answer) {
  turn_back(self, order, std::move(answer), {order.circuit, order.limiter});
}

void token_refresher_state::answer_late() {
  const auto time = now();
  while (!held.empty() && held.front().deadline <= time) {
    turn_away(held.front().order, wait_answer(time + parts.config->hold, "token"));
    held.pop_front();
  }
  if (!held.empty()) arm_tick(self, parts.clock, tick_at, held.front().deadline);
}

void token_refresher_state::tick() {
  tick_at = never;
  answer_late();
}

token_refresher_actor::behavior_type
token_refresher(token_refresher_actor::stateful_pointer<token_refresher_state> self,
                gate_parts parts, std::string connection) {
  self->state.parts = std::move(parts);
  self->state.connection = std::move(connection);
  return {
    [self](inspect_atom) {
      const auto& st = self->state;
      const std::string text = st.usable() ? "generation " + std::to_string(st.current.generation)
                                           : std::string{"no token"};
      auto card =
        card_of(self, text, st.doing == token_refresher_state::phase::idle ? "" : "the gateway");
      card.label = st.connection;
      return card;
    },
    counted(self, [self](acquire_pass& order) { self->state.acquire(order); }),
    [](const request_finished&) {},
    counted(self, [self](const pass_answered& answer) { self->state.passed(answer); }),
    counted(self, [self](http_answered& answer) { self->state.answered(answer); }),
    counted(self, [self](const appended& done) { self->state.saved(done); }),
    counted(self, [self](tick_atom) { self->state.tick(); }),
  };
}

} // namespace sluice
