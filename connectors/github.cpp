#include "connectors/github.hpp"

#include "base/json.hpp"
#include "base/percent.hpp"
#include "base/time_text.hpp"
#include "connectors/answer.hpp"
#include "connectors/cursor.hpp"
#include "connectors/items.hpp"
#include "connectors/link_header.hpp"
#include "rules/delivery_id.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice {

namespace github {

struct list_kind {
  std::string_view entity;
  std::string_view list; ///< path and query below the repository
  std::string_view kind; ///< in delivery ids
  std::string_view event;
  std::string_view permission;
  list_order order;
};

constexpr std::array<list_kind, 3> lists{{
  {"pull_request", "/pulls?state=all&sort=updated&direction=desc&per_page=100", "pr",
   "pull_request", "pull_requests", list_order::by_update},
  {"issue", "/issues?state=all&sort=created&direction=asc&per_page=100", "issue", "issues",
   "issues", list_order::by_creation},
  {"release", "/releases?per_page=100", "release", "release", "contents", list_order::by_creation},
}};

const list_kind* find(std::string_view entity) noexcept {
  const auto found = std::ranges::find(lists, entity, &list_kind::entity);
  return found == lists.end() ? nullptr : &*found;
}

/// What is read of each item, by position.
enum field : std::size_t {
  number,
  id,
  updated_at,
  published_at,
  state,
  draft,
  pull_request,
};
const std::vector<std::string_view>& field_names() {
  static const std::vector<std::string_view> names{"number", "id",    "updated_at",  "published_at",
                                                   "state",  "draft", "pull_request"};
  return names;
}

bool is_decimal(std::string_view text) noexcept {
  return !text.empty() && text.size() < 20
         && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// `owner/name`; nothing when it is no such name.
std::optional<std::pair<std::string_view, std::string_view>> split(std::string_view name) noexcept {
  const auto slash = name.find('/');
  if (slash == name.npos) return std::nullopt;
  const auto owner = name.substr(0, slash);
  const auto repo = name.substr(slash + 1);
  const auto plain = [](std::string_view part) {
    return !part.empty() && part != "." && part != ".." && part.find('/') == part.npos;
  };
  if (!plain(owner) || !plain(repo)) return std::nullopt;
  return std::pair{owner, repo};
}

std::string_view base_of(const unit_scope& scope) noexcept {
  return scope.base_url.empty() ? std::string_view{"https://api.github.com"} : scope.base_url;
}

error wrong(const raw_item& item, std::size_t index, field f, std::string_view expected) {
  using kind = field_value::kind;
  constexpr std::array<std::string_view, 7> names{"nothing",  "null",     "a boolean", "a number",
                                                  "a string", "an array", "an object"};
  const auto type = static_cast<std::size_t>(item.fields[f].type);
  static_assert(static_cast<std::size_t>(kind::object) + 1 == names.size());
  std::string text = "item " + std::to_string(index) + ": '";
  text.append(field_names()[f]).append("' should be ").append(expected).append(", is ");
  return make_error(errc::bad_input, text.append(names[type]));
}

result<timestamp> time_of(const raw_item& item, std::size_t index, field f) {
  const auto& value = item.fields[f];
  const auto time = value.is_string() ? parse_rfc3339(value.text) : std::nullopt;
  if (!time) return wrong(item, index, f, "a time");
  return *time;
}

std::string action_of(const list_kind& list, const raw_item& item) {
  if (list.entity == "release") return "published";
  return item.fields[state].is_string() && item.fields[state].text == "closed" ? "closed"
                                                                               : "opened";
}

/// Key, time and what filters the item out.
result<page_item> read(const list_kind& list, const raw_item& item, std::size_t index,
                       const unit_scope& scope) {
  page_item made;
  made.raw = item.raw;
  const bool release = list.entity == "release";
  const auto key = release ? id : number;
  const auto value = item.fields[key].integer();
  if (!value) return wrong(item, index, key, "a whole number");
  made.key = std::to_string(*value);
  made.id = delivery_id({scope.installation, scope.resource_id, list.kind, made.key});
  made.event_type = list.event;
  made.action = action_of(list, item);
  if (release && (item.fields[draft].is_true() || !item.fields[published_at].is_set())) {
    made.why_not = "a draft";
  } else {
    const auto time = time_of(item, index, release ? published_at : updated_at);
    if (!time) return time.error();
    made.time = *time;
    if (made.time < scope.since) made.why_not = "outside the window";
    if (list.entity == "issue" && item.fields[pull_request].is_set())
      made.why_not = "a pull request";
  }
  made.wanted = made.why_not.empty();
  return made;
}

result<std::optional<std::string>> next_page(const unit_scope& scope, const std::string& cursor,
                                             const http_response& response) {
  const auto found = find_link(response, "next");
  if (!found) return found.error();
  const std::optional<std::string>& link = *found;
  if (!link) return std::optional<std::string>{};
  auto next = cursors::from_link(base_of(scope), response.final_url, *link);
  if (!next) return next.error();
  if (*next == cursor)
    return make_error(errc::bad_input, "the link to the next page leads to this page");
  return std::optional{std::move(*next)};
}

/// `message` of an error body; empty when there is none.
std::string message_of(const http_response& response) {
  constexpr std::size_t error_bytes_max = 64UL * 1024;
  if (response.body.empty() || response.body.size() > error_bytes_max) return {};
  const auto body = json::document::parse(response.body);
  if (!body) return {};
  const auto message = body->root().find("message");
  if (!message) return {};
  const auto text = message->str();
  return text ? std::string{*text} : std::string{};
}

void write_repository(std::string& out, const unit_scope& scope) {
  out += "{\"id\":";
  const bool number_id = is_decimal(scope.resource_id)
                         && (scope.resource_id.front() != '0' || scope.resource_id.size() == 1);
  out += number_id ? scope.resource_id : json::quoted(scope.resource_id);
  if (const auto name = split(scope.resource_name)) {
    out.append(",\"name\":").append(json::quoted(name->second));
    out.append(",\"full_name\":").append(json::quoted(scope.resource_name));
    out.append(",\"owner\":{\"login\":").append(json::quoted(name->first)).append("}");
  }
  out += '}';
}

} // namespace github

std::string_view github_connector::default_base_url() const {
  return "https://api.github.com";
}

std::vector<std::string> github_connector::entities() const {
  std::vector<std::string> names;
  names.reserve(github::lists.size());
  for (const auto& list : github::lists)
    names.emplace_back(list.entity);
  return names;
}

std::vector<std::string> github_connector::scopes(std::string_view entity) const {
  const auto* list = github::find(entity);
  if (!list) return {};
  const std::string permission{list->permission};
  // Permissions of an app, or scopes of an OAuth token.
  return {permission + ":read", permission + ":write", permission, "repo", "public_repo"};
}

list_order github_connector::order(std::string_view entity) const {
  const auto* list = github::find(entity);
  return list ? list->order : list_order::by_creation;
}

std::string github_connector::rate_bucket(std::string_view) const {
  return "core";
}

result<std::string> github_connector::first_cursor(const unit_scope& scope) const {
  const auto* list = github::find(scope.entity);
  if (!list) return make_error(errc::bad_input, "github has no entity type '" + scope.entity + "'");
  std::string cursor;
  if (const auto name = github::split(scope.resource_name)) {
    cursor = "/repos/" + percent_encode(name->first) + "/" + percent_encode(name->second);
  } else if (github::is_decimal(scope.resource_id)) {
    cursor = "/repositories/" + scope.resource_id;
  } else {
    return make_error(errc::bad_input, "a repository needs a name 'owner/name' or a numeric id");
  }
  cursor += list->list;
  // "Updated after": a second earlier, so that the window stays closed on its low side.
  const auto since = scope.since - std::chrono::seconds{1};
  if (list->entity == "issue" && since > never) cursor += "&since=" + to_query_time(since);
  return cursor;
}

std::optional<std::string> github_connector::smaller(const std::string& cursor) const {
  const auto size = answers::half_page(cursor, "per_page");
  if (!size) return std::nullopt;
  auto made = cursors::with_parameter(cursor, "per_page", std::to_string(*size));
  const auto page = cursors::parameter(cursor, "page");
  if (!page) return made;
  std::uint32_t number = 0;
  const auto* end = page->data() + page->size();
  const auto [at, failed] = std::from_chars(page->data(), end, number);
  if (failed != std::errc{} || at != end || number == 0 || number > 1'000'000) return std::nullopt;
  // Where a size was odd, the first page starts a little before the old one.
  return cursors::with_parameter(made, "page", std::to_string((number - 1) * 2 + 1));
}

result<http_request> github_connector::request(const unit_scope& scope,
                                               const std::string& cursor) const {
  auto to = cursors::resolve(github::base_of(scope), cursor);
  if (!to) return to.error();
  http_request made;
  made.url = to->text();
  made.headers = {{.name = "Accept", .value = "application/vnd.github+json"},
                  {.name = "X-GitHub-Api-Version", .value = "2022-11-28"},
                  {.name = "User-Agent", .value = "sluice"}};
  made.redirects_max = 3;
  return made;
}

answer_verdict github_connector::judge(const http_response& response, timestamp now) const {
  const auto message = response.status == 200 ? std::string{} : github::message_of(response);
  auto v = answers::judge(response, message, std::nullopt, now);
  if (v.kind == answer_kind::forbidden) {
    const auto needed = response.header("x-accepted-github-permissions");
    if (!needed.empty()) v.detail += "; it needs " + json::quoted(needed);
  }
  if (response.status == 422 && message.find("agination") != message.npos)
    v.kind = answer_kind::wall;
  return v;
}

result<list_page> github_connector::parse(const unit_scope& scope, const std::string& cursor,
                                          const http_response& response) const {
  const auto* list = github::find(scope.entity);
  if (!list) return make_error(errc::bad_input, "github has no entity type '" + scope.entity + "'");
  list_page page;
  if (response.status != 204) {
    auto raw = read_items(response.body, {.fields = github::field_names()});
    if (!raw) return answers::bad_page(response, detail_of(raw.error()));
    page.items.reserve(raw->items.size());
    for (std::size_t i = 0; i < raw->items.size(); ++i) {
      auto item = github::read(*list, raw->items[i], i, scope);
      if (!item) return answers::bad_page(response, detail_of(item.error()));
      page.items.push_back(std::move(*item));
    }
  }
  auto next = github::next_page(scope, cursor, response);
  if (!next) return answers::bad_page(response, detail_of(next.error()));
  page.next = std::move(*next);
  const auto before = [&](const page_item& item) { return item.time < scope.since; };
  if (list->order == list_order::by_update && std::ranges::any_of(page.items, before)) {
    page.window_ended = true;
    page.next.reset();
  }
  answers::explain_empty(page);
  return page;
}

void github_connector::write_payload(std::string& out, const unit_scope& scope,
                                     const page_item& item) const {
  out.append("{\"action\":").append(json::quoted(item.action));
  if (scope.entity == "pull_request") out.append(",\"number\":").append(item.key);
  out.append(",").append(json::quoted(scope.entity)).append(":").append(item.raw);
  out += ",\"repository\":";
  github::write_repository(out, scope);
  out += '}';
}

} // namespace sluice
