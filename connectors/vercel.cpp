#include "connectors/vercel.hpp"

#include "base/json.hpp"
#include "base/percent.hpp"
#include "connectors/answer.hpp"
#include "connectors/cursor.hpp"
#include "connectors/items.hpp"
#include "rules/delivery_id.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {

namespace vercel {

constexpr std::string_view base_url = "https://api.vercel.com";
constexpr std::string_view entity = "deployment";
/// The year 33658: more is no time in milliseconds.
constexpr std::uint64_t millis_max = 1'000'000'000'000'000;

/// What is read of each item, by position. Older answers say `createdAt` and `state`.
enum field : std::size_t { uid, created, created_at, ready_state, state, project_id };
const std::vector<std::string_view>& field_names() {
  static const std::vector<std::string_view> names{"uid",        "created", "createdAt",
                                                   "readyState", "state",   "projectId"};
  return names;
}

std::string_view base_of(const unit_scope& scope) noexcept {
  return scope.base_url.empty() ? base_url : std::string_view{scope.base_url};
}

/// A personal account is not asked for by id: its scope is what a token has without a team.
bool is_team(std::string_view external_id) noexcept {
  return external_id.starts_with("team_");
}

std::optional<std::uint64_t> decimal(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, value);
  if (text.empty() || failed != std::errc{} || at != end || value > millis_max) return {};
  return value;
}

/// The webhook that Vercel sends when a deployment comes into this state.
std::string event_of(const raw_item& item) {
  const auto& now =
    item.fields[ready_state].is_string() ? item.fields[ready_state] : item.fields[state];
  if (now.text == "READY") return "deployment.succeeded";
  if (now.text == "ERROR") return "deployment.error";
  if (now.text == "CANCELED") return "deployment.canceled";
  return "deployment.created";
}

result<page_item> read(const raw_item& item, std::size_t index, const unit_scope& scope) {
  const auto wrong = [index](std::string_view what) {
    return make_error(errc::bad_input, "item " + std::to_string(index) + ": " + std::string{what});
  };
  page_item made;
  made.raw = item.raw;
  if (!item.fields[uid].is_string() || !is_item_id(item.fields[uid].text))
    return wrong("'uid' should be an id");
  const auto& time = item.fields[created].is_set() ? item.fields[created] : item.fields[created_at];
  const auto millis = time.integer();
  if (!millis || *millis > millis_max) return wrong("'created' should be a time in milliseconds");
  made.key = item.fields[uid].text;
  made.id = delivery_id({scope.installation, scope.resource_id, "deploy", made.key});
  made.time = from_millis(static_cast<std::int64_t>(*millis));
  made.event_type = event_of(item);
  if (made.time < scope.since) made.why_not = "outside the window";
  if (item.fields[project_id].is_string() && item.fields[project_id].text != scope.resource_id)
    made.why_not = "of another project";
  made.wanted = made.why_not.empty();
  return made;
}

/// `pagination.next`: nothing at the end of the list.
result<std::optional<std::uint64_t>> next_time(std::string_view pagination) {
  const auto broken = [] {
    return make_error(errc::bad_input, "'pagination' should have a 'next' that is null or a time");
  };
  if (pagination.empty()) return broken();
  const auto read = json::document::parse(pagination);
  if (!read || read->root().type() != json::cursor::kind::object) return broken();
  const auto next = read->root().find("next");
  if (!next || next->is_null()) return std::optional<std::uint64_t>{};
  if (const auto text = next->str()) {
    const auto value = decimal(*text);
    return value ? result<std::optional<std::uint64_t>>{value} : broken();
  }
  const auto value = next->u64();
  if (!value || *value > millis_max) return broken();
  return std::optional{*value};
}

std::optional<std::uint64_t> number(const std::string& cursor, std::string_view parameter) {
  const auto text = cursors::parameter(cursor, parameter);
  return text ? decimal(*text) : std::nullopt;
}

/// Sets where the page goes on, or that it ends. Without progress and with room left on the page,
/// its one millisecond is complete: what is left is older.
error go_on(list_page& page, const std::string& cursor, std::string_view pagination,
            timestamp since) {
  const auto found = next_time(pagination);
  if (!found) return found.error();
  const std::optional<std::uint64_t>& next = *found;
  if (!next) return {};
  if (from_millis(static_cast<std::int64_t>(*next)) < since) {
    page.window_ended = true;
    return {};
  }
  auto until = *next + 1;
  const auto last = number(cursor, "until");
  if (last && until >= *last) {
    // Nothing on this page is older than what was asked for.
    if (page.items.size() >= number(cursor, "limit").value_or(0))
      return make_error(errc::bad_input,
                        "the list does not go on: more deployments share one millisecond than a "
                        "page holds, or its next page is this one");
    if (*next >= *last) return {};
    until = *next;
  }
  page.next = cursors::with_parameter(cursor, "until", std::to_string(until));
  return {};
}

/// What an error body says.
struct complaint {
  std::string message;
  std::optional<timestamp> reset;
  bool bad_token = false;
};

bool mentions_bad_token(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  });
  const auto has = [&](std::string_view word) { return text.find(word) != text.npos; };
  return has("token") && (has("invalid") || has("not valid") || has("expired"));
}

std::optional<timestamp> reset_of(const json::cursor& error) {
  const auto limit = error.find("limit");
  if (!limit) return std::nullopt;
  for (const auto& [name, factor] : {std::pair{"resetMs", 1U}, std::pair{"reset", 1000U}}) {
    const auto member = limit->find(name);
    if (!member) continue;
    const auto value = member->u64();
    if (value && *value <= millis_max / factor)
      return from_millis(static_cast<std::int64_t>(*value * factor));
  }
  return std::nullopt;
}

complaint read_complaint(const http_response& response) {
  constexpr std::size_t error_bytes_max = 64UL * 1024;
  complaint c;
  if (response.body.empty() || response.body.size() > error_bytes_max) return c;
  const auto body = json::document::parse(response.body);
  if (!body) return c;
  const auto error = body->root().find("error");
  if (!error) return c;
  const auto text = [&](std::string_view name) {
    const auto member = error->find(name);
    const auto value = member ? member->str() : result<std::string_view>{std::string_view{}};
    return value ? std::string{*value} : std::string{};
  };
  const auto flag = error->find("invalidToken");
  const auto truth = flag ? flag->boolean() : result<bool>{false};
  c.message = text("message");
  c.bad_token =
    (truth && *truth) || mentions_bad_token(c.message) || text("code") == "invalid_token";
  c.reset = reset_of(*error);
  return c;
}

} // namespace vercel

std::string_view vercel_connector::default_base_url() const {
  return vercel::base_url;
}

std::vector<std::string> vercel_connector::entities() const {
  return {std::string{vercel::entity}};
}

std::vector<std::string> vercel_connector::scopes(std::string_view entity) const {
  if (entity != vercel::entity) return {};
  return {"read:deployment", "read-write:deployment", "deployment:read", "deployment:read-write",
          "deployment",      "deployments:read",      "deployments"};
}

list_order vercel_connector::order(std::string_view) const {
  return list_order::by_creation;
}

std::string vercel_connector::rate_bucket(std::string_view) const {
  // Its limits hold per endpoint.
  return "deployments";
}

result<std::string> vercel_connector::first_cursor(const unit_scope& scope) const {
  if (scope.entity != vercel::entity)
    return make_error(errc::bad_input, "vercel has no entity type '" + scope.entity + "'");
  if (scope.resource_id.empty()) return make_error(errc::bad_input, "a project needs an id");
  std::string cursor = "/v7/deployments?limit=100&projectId=" + percent_encode(scope.resource_id);
  if (vercel::is_team(scope.external_id)) cursor += "&teamId=" + percent_encode(scope.external_id);
  // Whether `since` itself is in is not said: one millisecond earlier it is.
  if (scope.since > from_millis(1))
    cursor += "&since=" + std::to_string(to_millis(scope.since) - 1);
  return cursor;
}

std::optional<std::string> vercel_connector::smaller(const std::string& cursor) const {
  const auto size = answers::half_page(cursor, "limit");
  if (!size) return std::nullopt;
  return cursors::with_parameter(cursor, "limit", std::to_string(*size));
}

result<http_request> vercel_connector::request(const unit_scope& scope,
                                               const std::string& cursor) const {
  auto to = cursors::resolve(vercel::base_of(scope), cursor);
  if (!to) return to.error();
  http_request made;
  made.url = to->text();
  made.headers = {{.name = "Accept", .value = "application/json"},
                  {.name = "User-Agent", .value = "sluice"}};
  made.redirects_max = 3;
  return made;
}

answer_verdict vercel_connector::judge(const http_response& response, timestamp now) const {
  const auto said = response.status == 200 ? vercel::complaint{} : vercel::read_complaint(response);
  auto v = answers::judge(response, said.message, said.reset, now);
  if (v.kind == answer_kind::forbidden && said.bad_token) v.kind = answer_kind::unauthorized;
  return v;
}

result<list_page> vercel_connector::parse(const unit_scope& scope, const std::string& cursor,
                                          const http_response& response) const {
  list_page page;
  if (response.status != 204) {
    auto raw = read_items(
      response.body,
      {.array = "deployments", .members = {"pagination"}, .fields = vercel::field_names()});
    if (!raw) return answers::bad_page(response, detail_of(raw.error()));
    page.items.reserve(raw->items.size());
    for (std::size_t i = 0; i < raw->items.size(); ++i) {
      auto item = vercel::read(raw->items[i], i, scope);
      if (!item) return answers::bad_page(response, detail_of(item.error()));
      page.items.push_back(std::move(*item));
    }
    if (const auto e = vercel::go_on(page, cursor, raw->members.front(), scope.since))
      return answers::bad_page(response, detail_of(e));
  }
  answers::explain_empty(page);
  return page;
}

void vercel_connector::write_payload(std::string& out, const unit_scope& scope,
                                     const page_item& item) const {
  out.append("{\"id\":").append(json::quoted(item.id));
  out.append(",\"type\":").append(json::quoted(item.event_type));
  out.append(",\"createdAt\":").append(std::to_string(to_millis(item.time)));
  out.append(",\"deployment\":").append(item.raw);
  out.append(",\"project\":{\"id\":").append(json::quoted(scope.resource_id));
  if (!scope.resource_name.empty())
    out.append(",\"name\":").append(json::quoted(scope.resource_name));
  out += '}';
  if (vercel::is_team(scope.external_id))
    out.append(",\"team\":{\"id\":").append(json::quoted(scope.external_id)).append("}");
  out += '}';
}

} // namespace sluice
