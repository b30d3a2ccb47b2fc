#include "sandbox/vercel.hpp"

#include "base/json.hpp"
#include "sandbox/moments.hpp"

namespace sluice::sandbox {

namespace deploys {

http::response problem(int status, std::string_view code, std::string_view text) {
  json::writer w;
  w.obj().key("error").obj().key("code").str(code).key("message").str(text).end().end();
  return json_answer(status, w.take());
}

void add_rate(http::response& r, const rate_answer& rate) {
  r.headers.push_back({"X-RateLimit-Limit", std::to_string(rate.limit)});
  r.headers.push_back({"X-RateLimit-Remaining", std::to_string(rate.remaining)});
  r.headers.push_back({"X-RateLimit-Reset", std::to_string(rate.reset_s)});
}

http::response limited(service_state& s, const rate_answer& rate, std::int64_t wait_s) {
  s.book.counts.add(counter::rate_limited);
  const auto reset = to_millis(s.now()) / 1000 + wait_s;
  json::writer w;
  w.obj().key("error").obj().key("code").str("rate_limited");
  w.key("message").str("The rate limit of 6 exceeded for 'api-deployments-get'. Try again later");
  w.key("limit").obj().key("remaining").num(std::int64_t{0}).key("reset").num(reset);
  w.key("resetMs").num(reset * 1000).key("total").num(std::uint64_t{rate.limit}).end().end().end();
  auto r = json_answer(429, w.take());
  add_rate(r, rate);
  r.headers.push_back({"Retry-After", std::to_string(wait_s)});
  return r;
}

http::response list_page(service_state& s, const service_request& r, list_ref l,
                         const rate_answer& rate) {
  list_query q;
  q.since_ms = millis_of(r.query("since"));
  q.until_ms = millis_of(r.query("until"));
  const auto limit = number_in(r.query("limit"), 20, 100);
  const auto what = mix64(mix64(hash_of(q), limit), l.of.key());
  const auto nth = s.book.fetches.asked_for(l, what, q.since_ms, s.now());
  if (s.chance.hits(s.about().faults.secondary, what, nth,
                    static_cast<std::uint64_t>(salt::secondary))) {
    s.budgets.hold(l.of.owner, s.now() + duration{1000});
    return limited(s, rate, 1);
  }
  const auto content = s.lists.get(l, q, 0, limit);
  std::string body = R"({"pagination":{"count":)" + std::to_string(content->count) + R"(,"next":)";
  body += content->total > content->count ? std::to_string(content->last_ms) : "null";
  body += R"(,"prev":)";
  body += content->count > 0 ? std::to_string(content->first_ms) : "null";
  body += R"(},"deployments":)" + content->array + "}";
  auto whole = json_answer(200, std::move(body));
  add_rate(whole, rate);
  return send_page(s, {l, what, nth, content}, std::move(whole));
}

http::response route(service_state& s, const service_request& r) {
  const bool deployments =
    r.path.size() == 2 && (r.path[0] == "v6" || r.path[0] == "v7") && r.path[1] == "deployments";
  s.book.counts.add(deployments ? counter::vercel_deployments : counter::vercel_other);
  if (!deployments || r.whole.method != "GET")
    return problem(404, "not_found", "The requested URL was not found.");
  const auto now = s.now();
  const auto owner = s.keys.owner_of(bearer_of(r.whole), provider::vercel, now);
  if (!owner) {
    s.book.counts.add(counter::unauthorized);
    return problem(401, "forbidden", "Not authorized: the token is invalid or has expired");
  }
  const auto rate = s.budgets.take(*owner, now);
  note_rate(s.book, rate);
  if (rate.exceeded)
    return limited(s, rate, std::max<std::int64_t>(1, rate.reset_s - to_millis(now) / 1000));
  const auto team = r.query("teamId");
  if (!team.empty() && team != s.there.external_id_of(*owner))
    return problem(403, "forbidden",
                   "Not authorized: Trying to access resource under another scope");
  const auto project = s.there.project_with_id(r.query("projectId"));
  if (!project || project->owner != *owner) return problem(404, "not_found", "Project not found");
  return list_page(s, r, {*project, entity::deployment}, rate);
}

} // namespace deploys

http::response answer_vercel(service_state& s, const service_request& r) {
  auto answer = deploys::route(s, r);
  answer.delay = s.about().faults.provider_latency;
  return answer;
}

} // namespace sluice::sandbox
