#include "sandbox/github.hpp"

#include "base/json.hpp"
#include "sandbox/moments.hpp"

namespace sluice::sandbox {

namespace hub {

constexpr duration secondary_wait{2'000};
constexpr std::uint32_t page_max = 100'000;

http::response message(int status, std::string_view text) {
  json::writer w;
  w.obj().key("message").str(text);
  w.key("documentation_url").str("https://docs.github.com/rest");
  w.key("status").str(std::to_string(status)).end();
  return json_answer(status, w.take());
}

void add_rate(http::response& r, const rate_answer& rate) {
  r.headers.push_back({"X-RateLimit-Limit", std::to_string(rate.limit)});
  r.headers.push_back({"X-RateLimit-Remaining", std::to_string(rate.remaining)});
  r.headers.push_back({"X-RateLimit-Used", std::to_string(rate.used)});
  r.headers.push_back({"X-RateLimit-Reset", std::to_string(rate.reset_s)});
  r.headers.push_back({"X-RateLimit-Resource", "core"});
}

http::response primary_limit(const service_state& s, connection_ref c, const rate_answer& rate) {
  auto r = message(rate.reset_s % 2 == 0 ? 403 : 429, "API rate limit exceeded for installation ID "
                                                        + s.there.external_id_of(c) + ".");
  add_rate(r, rate);
  return r;
}

/// With Retry-After or without, as 403 or as 429: all four are seen.
http::response secondary_limit(service_state& s, connection_ref c, const rate_answer& rate,
                               std::uint64_t roll) {
  auto r = message((roll & 1) == 0 ? 403 : 429,
                   "You have exceeded a secondary rate limit. Please wait a few minutes before you "
                   "try again.");
  add_rate(r, rate);
  if ((roll & 2) == 0) {
    r.headers.push_back({"Retry-After", std::to_string(secondary_wait.count() / 1000)});
    s.budgets.hold(c, s.now() + secondary_wait);
  }
  return r;
}

struct query {
  list_query list;
  std::uint32_t page = 1;
  std::uint32_t per_page = 30;
  std::string text; ///< as links repeat it, without the page
};

query read_query(const service_request& r, entity kind) {
  query q;
  q.page = number_in(r.query("page"), 1, page_max);
  q.per_page = number_in(r.query("per_page"), 30, 100);
  for (const auto& [name, value] : r.asked.query) {
    if (name == "page") continue;
    // Values of these parameters need no escapes but for the colons and plus signs of times.
    q.text += (q.text.empty() ? "" : "&") + name + "=";
    for (const char c : value)
      q.text += c == ':' ? "%3A" : c == '+' ? "%2B" : std::string(1, c);
  }
  if (kind == entity::release) return q;
  const auto state = r.query("state");
  q.list.state = state == "all"      ? list_query::states::all
                 : state == "closed" ? list_query::states::closed
                                     : list_query::states::open;
  const bool updated = r.query("sort") == "updated";
  q.list.by = updated ? list_query::order::updated : list_query::order::created;
  const auto direction = r.query("direction");
  // Pull requests that are not sorted by creation come oldest first unless told otherwise.
  q.list.ascending =
    direction == "asc" || (direction.empty() && updated && kind == entity::pull_request);
  if (kind == entity::issue) q.list.since_ms = millis_of(r.query("since"));
  return q;
}

std::string link_header(const std::string& base, const query& q, std::size_t total) {
  const auto last = std::max<std::size_t>(1, (total + q.per_page - 1) / q.per_page);
  std::string text;
  auto add = [&](std::size_t page, std::string_view rel) {
    if (!text.empty()) text += ", ";
    text += "<" + base + "?" + q.text + (q.text.empty() ? "" : "&") + "page=" + std::to_string(page)
            + ">; rel=\"" + std::string{rel} + "\"";
  };
  if (q.page > 1) add(std::min<std::size_t>(q.page - 1, last), "prev");
  if (q.page < last) {
    add(q.page + 1, "next");
    add(last, "last");
  }
  if (q.page > 1) add(1, "first");
  return text;
}

std::optional<entity> kind_of(std::string_view name) {
  if (name == "pulls") return entity::pull_request;
  if (name == "issues") return entity::issue;
  if (name == "releases") return entity::release;
  return std::nullopt;
}

counter counter_of(std::optional<entity> kind) {
  if (!kind) return counter::github_other;
  switch (*kind) {
  case entity::pull_request:
    return counter::github_pulls;
  case entity::issue:
    return counter::github_issues;
  case entity::release:
    return counter::github_releases;
  case entity::deployment:
    break;
  }
  return counter::github_other;
}

std::string base_of(const service_request& r, const world& w, list_ref l, std::string_view name) {
  return "http://" + std::string{r.host} + "/github/repositories/" + w.provider_id_of(l.of) + "/"
         + std::string{name};
}

http::response list_page(service_state& s, const service_request& r, list_ref l,
                         std::string_view name, const rate_answer& rate) {
  const auto q = read_query(r, l.kind);
  const auto key = mix64(hash_of(q.list), (std::uint64_t{q.page} << 8) | q.per_page);
  const auto what = mix64(key, mix64(l.of.key(), static_cast<std::uint64_t>(l.kind)));
  const auto nth = s.book.fetches.asked_for(l, what, q.list.since_ms, s.now());
  const auto secondary = static_cast<std::uint64_t>(salt::secondary);
  if (s.chance.hits(s.about().faults.secondary, what, nth, secondary)) {
    s.book.counts.add(counter::rate_limited);
    return secondary_limit(s, l.of.owner, rate, s.chance.roll(what, nth, secondary));
  }
  const auto from = (std::size_t{q.page} - 1) * q.per_page;
  const auto content = s.lists.get(l, q.list, from, q.per_page);
  auto whole = json_answer(200, content->array);
  add_rate(whole, rate);
  auto links = link_header(base_of(r, s.there, l, name), q, content->total);
  if (!links.empty()) whole.headers.push_back({"Link", std::move(links)});
  return send_page(s, {l, what, nth, content}, std::move(whole));
}

http::response route(service_state& s, const service_request& r) {
  const auto path = r.path;
  const bool by_name = path.size() == 4 && path[0] == "repos";
  const bool by_id = path.size() == 3 && path[0] == "repositories";
  const auto name = by_name || by_id ? std::string_view{path.back()} : std::string_view{};
  const auto kind = kind_of(name);
  s.book.counts.add(counter_of(kind));
  if (r.whole.method != "GET") return message(404, "Not Found");

  const auto now = s.now();
  const auto owner = s.keys.owner_of(bearer_of(r.whole), provider::github, now);
  if (!owner) {
    s.book.counts.add(counter::unauthorized);
    return message(401, "Bad credentials");
  }
  const auto rate = s.budgets.take(*owner, now);
  note_rate(s.book, rate);
  if (rate.exceeded) {
    s.book.counts.add(counter::rate_limited);
    return primary_limit(s, *owner, rate);
  }
  world::named_repo found;
  if (by_name) {
    if (auto named = s.there.repo_named(path[1], path[2])) found = *named;
  } else if (by_id) {
    if (auto repo = s.there.repo_with_id(path[1])) found.repo = *repo;
  }
  // What an installation may not see is not there.
  if (!kind || found.repo.index == 0 || found.repo.owner != *owner) {
    auto r404 = message(404, "Not Found");
    add_rate(r404, rate);
    return r404;
  }
  const list_ref l{found.repo, *kind};
  if (!found.old_name) return list_page(s, r, l, name, rate);
  auto moved = message(301, "Moved Permanently");
  add_rate(moved, rate);
  const auto& target = r.whole.target;
  const auto mark = target.find('?');
  moved.headers.push_back(
    {"Location", base_of(r, s.there, l, name) + (mark == target.npos ? "" : target.substr(mark))});
  return moved;
}

} // namespace hub

http::response answer_github(service_state& s, const service_request& r) {
  auto answer = hub::route(s, r);
  answer.delay = s.about().faults.provider_latency;
  answer.headers.push_back({"X-GitHub-Media-Type", "github.v3; format=json"});
  const auto serial = s.book.counts.get(counter::github_pulls)
                      + s.book.counts.get(counter::github_issues)
                      + s.book.counts.get(counter::github_releases);
  answer.headers.push_back(
    {"X-GitHub-Request-Id", to_hex(hash64(r.whole.target, serial)).substr(0, 12)});
  return answer;
}

} // namespace sluice::sandbox
