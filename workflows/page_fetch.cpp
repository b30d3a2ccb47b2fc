#include "workflows/page_fetch.hpp"

#include "workflows/context.hpp"

#include <stdexcept>

namespace sluice {

namespace {

/// Answers of one attempt: the first, one with a fresh token, smaller pages, limits that the gates
/// learn of by them.
constexpr int tries_max = 8;

/// A pass that was granted; every one of them ends in a report, also when its frame goes away.
class held_pass {
public:
  held_pass(context& ctx, const pass_request& what, const pass& granted)
    : ctx_{ctx}, what_{what}, permit_{granted.permit} {}
  held_pass(const held_pass&) = delete;
  held_pass& operator=(const held_pass&) = delete;
  ~held_pass() {
    if (open_) finish(sent_ ? pass_outcome::dropped : pass_outcome::not_sent);
  }

  void sent() { sent_ = true; }
  void finish(pass_outcome outcome, const rate_report& rate = {}) {
    open_ = false;
    ctx_.finished(finished(what_, permit_, outcome, rate));
  }

private:
  context& ctx_;
  const pass_request& what_;
  std::uint64_t permit_;
  bool open_ = true;
  bool sent_ = false;
};

/// The granted pass, or out of this attempt.
const pass& granted_or_wait(const pass_answered& answer, slot_use slots) {
  if (answer.failed) throw std::runtime_error{to_text(answer.failed)};
  if (!answer.granted) throw wait_until{answer.wait_until, answer.reason, slots};
  return *answer.granted;
}

rate_report report_of(const rate_hint& hint) {
  rate_report r;
  r.limit = static_cast<std::uint32_t>(hint.limit.value_or(0));
  if (hint.remaining) r.remaining = static_cast<std::uint32_t>(*hint.remaining);
  r.reset_at = hint.reset_at.value_or(never);
  const bool refused =
    hint.kind == rate_kind::primary_limit || hint.kind == rate_kind::secondary_limit;
  r.blocked_until = refused ? hint.wait_until : never;
  r.all_buckets = hint.kind == rate_kind::secondary_limit;
  return r;
}

pass_outcome outcome_of(const answer_verdict& verdict, const http_response& response) {
  if (verdict.kind == answer_kind::limited) return pass_outcome::limited;
  const bool unwell = response.status == 0 || response.status >= 500;
  return unwell ? pass_outcome::failure : pass_outcome::success;
}

[[noreturn]] void end_with(answer_kind kind, const std::string& detail) {
  switch (kind) {
  case answer_kind::gone:
  case answer_kind::forbidden:
  case answer_kind::unauthorized:
  case answer_kind::wall:
  case answer_kind::refused:
    throw non_retriable{std::string{to_string(kind)}, detail};
  case answer_kind::page:
  case answer_kind::limited:
  case answer_kind::transient:
  case answer_kind::malformed:
    break;
  }
  throw std::runtime_error{detail};
}

} // namespace

task<std::shared_ptr<fetched_page>> fetch_page(context& ctx, const connector& from,
                                               unit_scope scope, std::string cursor,
                                               slot_use slots) {
  pass_request want;
  want.service = from.provider();
  want.installation = scope.installation;
  want.bucket = from.rate_bucket(scope.entity);
  want.connection = scope.installation;
  auto page = std::make_shared<fetched_page>();
  bool renewed = false;
  for (int tries = 1;; ++tries) {
    auto answer = co_await ctx.pass(want);
    const auto& leave = granted_or_wait(answer, slots);
    held_pass held{ctx, want, leave};
    auto request = from.request(scope, cursor);
    if (!request) throw non_retriable{"bad_input", detail_of(request.error())};
    from.authorize(*request, leave.access_token);
    held.sent();
    page->response = co_await ctx.http(std::move(*request));
    const auto verdict = from.judge(page->response, ctx.clock());
    held.finish(outcome_of(verdict, page->response), report_of(verdict.rate));
    const bool more = tries < tries_max;
    if (verdict.kind == answer_kind::page) {
      auto list = from.parse(scope, cursor, page->response);
      if (!list) throw std::runtime_error{detail_of(list.error())};
      page->list = std::move(*list);
      page->cursor = std::move(cursor);
      co_return page;
    }
    if (verdict.kind == answer_kind::unauthorized && !renewed) {
      renewed = true;
      want.rejected_generation = leave.generation;
      continue;
    }
    // The limiter knows now how long to wait, and says so to the next who asks.
    if (verdict.kind == answer_kind::limited && more) continue;
    if (verdict.smaller_page && more) {
      if (auto less = from.smaller(cursor)) {
        cursor = std::move(*less);
        continue;
      }
    }
    end_with(verdict.kind, verdict.detail);
  }
}

task<std::optional<std::string>> ask_gateway(context& ctx, const backfill_config& config,
                                             std::string path, std::string installation) {
  pass_request want;
  want.service = "gateway";
  want.installation = std::move(installation);
  auto answer = co_await ctx.pass(want);
  held_pass held{ctx, want, granted_or_wait(answer, slot_use::keep)};
  http_request request;
  request.url = config.gateway_url;
  while (!request.url.empty() && request.url.back() == '/')
    request.url.pop_back();
  request.url += path;
  request.headers.push_back({"X-API-Key", std::string{config.api_key.reveal()}, true});
  held.sent();
  auto response = co_await ctx.http(std::move(request));
  const bool unwell = response.status == 0 || response.status >= 500;
  held.finish(unwell ? pass_outcome::failure : pass_outcome::success);
  if (!response.error.empty()) throw std::runtime_error{"the gateway: " + response.error};
  if (response.status == 404) co_return std::nullopt;
  if (response.status == 200) co_return std::move(response.body);
  const auto said = "the gateway answered " + std::to_string(response.status) + " to " + path;
  if (response.status == 401 || response.status == 403)
    throw non_retriable{"unauthorized", said + ": is its api key right?"};
  throw std::runtime_error{said};
}

} // namespace sluice
