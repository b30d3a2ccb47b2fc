#include "sandbox/sandbox.hpp"

#include "base/json.hpp"
#include "sandbox/github.hpp"
#include "sandbox/moments.hpp"
#include "sandbox/vercel.hpp"

namespace sluice::sandbox {

namespace front_door {

constexpr std::string_view webhooks = "/gateway/webhooks/";

http::response problem(int status, std::string_view text) {
  json::writer w;
  w.obj().key("error").str(text).end();
  return json_answer(status, w.take());
}

} // namespace front_door

http::response sandbox::answer(const http::request& r) {
  const std::string_view target = r.target;
  if (r.method == "POST" && target.starts_with(front_door::webhooks))
    return gateway_.take_event(r, target.substr(front_door::webhooks.size()));
  const auto asked = http::parse_target(target);
  if (!asked) return front_door::problem(400, "the target cannot be read");
  service_request inner{r, *asked, asked->segments, r.header("Host")};
  const auto service = asked->segments.empty() ? std::string{} : asked->segments.front();
  if (!inner.path.empty()) inner.path = inner.path.subspan(1);
  if (service == "github") return answer_github(state_, inner);
  if (service == "vercel") return answer_vercel(state_, inner);
  if (service == "gateway") return gateway_.answer(inner);
  if (service == "ledger") return answer_ledger(inner);
  if (service == "health") return json_answer(200, R"({"status":"ok"})");
  state_.book.counts.add(counter::other);
  return front_door::problem(404, "here are /github, /vercel, /gateway, /ledger and /health");
}

http::response sandbox::answer_ledger(const service_request& r) {
  auto& book = state_.book;
  if (r.path.size() == 1 && r.whole.method == "POST") {
    if (r.path[0] == "reset") book.reset();
    if (r.path[0] == "mark") book.mark(state_.now());
    if (r.path[0] == "reset" || r.path[0] == "mark") return json_answer(200, "{}");
  }
  if (!r.path.empty() || r.whole.method != "GET")
    return front_door::problem(404, "GET /ledger, POST /ledger/reset, POST /ledger/mark");
  ledger_query q;
  const auto since = r.query("since");
  if (!since.empty()) {
    q.since_ms = millis_of(since);
    if (!q.since_ms)
      return front_door::problem(400, "since is neither ISO 8601 in UTC nor milliseconds");
  }
  const auto scope = r.query("scope");
  if (scope == "all")
    q.scope = ledger_scope::all;
  else if (scope == "connections")
    q.scope = ledger_scope::connections;
  else if (!scope.empty() && scope != "fetched")
    return front_door::problem(400, "scope is fetched, connections or all");
  q.detail = !r.query("detail").empty();
  return json_answer(200, book.to_json(q));
}

std::string sandbox::summary() const {
  const auto v = state_.book.judge({});
  auto text = "served " + std::to_string(v.served) + ", delivered " + std::to_string(v.delivered);
  text += ", distinct " + std::to_string(v.distinct);
  text += ", duplicates " + std::to_string(v.duplicates);
  text += ", missing " + std::to_string(v.missing);
  text += ", corrupted " + std::to_string(v.corrupted);
  return text + ", poisoned " + std::to_string(v.poisoned);
}

} // namespace sluice::sandbox
