#include "base/json.hpp"
#include "connectors/cursor.hpp"
#include "connectors/vercel.hpp"
#include "sample.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace std::chrono_literals;
using namespace sample;

namespace {

const vercel_connector vercel;
constexpr std::int64_t now_ms = to_millis(now);
const std::string place = "https://api.vercel.com/v7/deployments?limit=100";

http_response page_of(const std::vector<std::string>& items, const std::string& next) {
  return answer(200, deployments(items, next), {}, place);
}

std::optional<std::string> next_after(const std::string& cursor,
                                      const std::vector<std::string>& items,
                                      const std::string& next) {
  return parsed(vercel, vercel_scope(), page_of(items, next), cursor).next;
}

answer_verdict judged(int status, const std::string& body, std::vector<http_header> headers = {}) {
  return vercel.judge(answer(status, body, std::move(headers), place), now);
}

} // namespace

TEST_CASE("vercel: deployments of a project, in the scope of its team (B24)") {
  CHECK(vercel.entities() == std::vector<std::string>{"deployment"});
  CHECK(vercel.order("deployment") == list_order::by_creation);
  CHECK(vercel.rate_bucket("deployment") == "deployments");
  CHECK(has_scope(vercel, "deployment", {"read:deployment"}));
  auto scope = vercel_scope();
  const auto since = std::to_string(to_millis(scope.since) - 1);
  CHECK(*vercel.first_cursor(scope)
        == "/v7/deployments?limit=100&projectId=prj_1&teamId=team_a&since=" + since);
  scope.external_id = "user123";
  CHECK(*vercel.first_cursor(scope) == "/v7/deployments?limit=100&projectId=prj_1&since=" + since);
  scope.entity = "project";
  CHECK_FALSE(vercel.first_cursor(scope));
}

TEST_CASE("vercel: requests stay with their host and base (B24, S12)") {
  auto scope = vercel_scope();
  scope.base_url = "http://127.0.0.1:9000/vercel/";
  const auto made = vercel.request(scope, *vercel.first_cursor(scope));
  REQUIRE(made);
  CHECK(made->url.starts_with("http://127.0.0.1:9000/vercel/v7/deployments?limit=100&"));
  CHECK_FALSE(vercel.request(scope, "https://evil.example/v7/deployments"));
}

TEST_CASE("vercel: an item has id, time and the event of its state (B19, B24)") {
  const auto r = page_of({deployment("dpl_1", now_ms), deployment("dpl_2", now_ms - 1, "ERROR"),
                          deployment("dpl_3", now_ms - 2, "CANCELED"),
                          deployment("dpl_4", now_ms - 3, "BUILDING")},
                         "null");
  const auto page = parsed(vercel, vercel_scope(), r);
  REQUIRE(page.items.size() == 4);
  CHECK(page.items[0].id == "backfill-inst_2-prj_1-deploy-dpl_1");
  CHECK(page.items[0].time == now);
  CHECK(page.items[0].event_type == "deployment.succeeded");
  CHECK(page.items[1].event_type == "deployment.error");
  CHECK(page.items[2].event_type == "deployment.canceled");
  CHECK(page.items[3].event_type == "deployment.created");
  CHECK_FALSE(page.next);
}

TEST_CASE("vercel: the window is closed, other projects are filtered (B24)") {
  const auto scope = vercel_scope();
  const auto since = to_millis(scope.since);
  auto other = deployment("dpl_3", now_ms);
  other.replace(other.find("prj_1"), 5, "prj_2");
  const auto r =
    page_of({deployment("dpl_1", since), deployment("dpl_2", since - 1), other}, "null");
  const auto page = parsed(vercel, scope, r);
  CHECK(wanted_keys(page) == std::vector<std::string>{"dpl_1"});
  CHECK(page.items[1].why_not == "outside the window");
  CHECK(page.items[2].why_not == "of another project");
}

TEST_CASE("vercel: the next page begins one millisecond later than it says (B24, B25)") {
  const std::string cursor = "/v7/deployments?limit=100&projectId=prj_1";
  const auto t = std::to_string(now_ms);
  CHECK(next_after(cursor, {}, t) == cursor + "&until=" + std::to_string(now_ms + 1));
  CHECK(next_after(cursor + "&until=" + std::to_string(now_ms + 9), {}, '"' + t + '"')
        == cursor + "&until=" + std::to_string(now_ms + 1));
  CHECK_FALSE(next_after(cursor, {}, "null"));
}

TEST_CASE("vercel: a next page before the window is not asked for (B24)") {
  const auto scope = vercel_scope();
  const auto page =
    parsed(vercel, scope, page_of({}, std::to_string(to_millis(scope.since) - 1)), "/x?limit=100");
  CHECK(page.window_ended);
  CHECK_FALSE(page.next);
  CHECK(next_after("/x?limit=100", {}, std::to_string(to_millis(scope.since))));
}

TEST_CASE("vercel: a page that shares one millisecond ends or fails, never loops (B25)") {
  const auto until = [](std::int64_t ms) { return "/x?limit=2&until=" + std::to_string(ms); };
  const std::vector<std::string> one{deployment("a", now_ms)};
  const std::vector<std::string> full{deployment("a", now_ms), deployment("b", now_ms)};
  const auto t = std::to_string(now_ms);
  // Room on the page: the millisecond is complete, what is left is older.
  CHECK(next_after(until(now_ms + 1), one, t) == until(now_ms));
  CHECK_FALSE(next_after(until(now_ms), one, t));
  // No room: there may be more of that millisecond, which no page can show.
  CHECK(problem(vercel, vercel_scope(), page_of(full, t), until(now_ms + 1))
          .starts_with("the list does not go on: "));
  CHECK(problem(vercel, vercel_scope(), page_of(full, std::to_string(now_ms + 50)), until(now_ms))
          .starts_with("the list does not go on: "));
}

namespace {

enum class edge { inclusive, exclusive };

/// All ids that paging finds in a list whose `until` is meant one way or the other.
std::vector<std::string> read_all(const std::vector<std::int64_t>& times, edge e,
                                  std::size_t limit) {
  const auto scope = vercel_scope();
  std::vector<std::string> ids;
  std::size_t pages = 0;
  auto at = vercel.first_cursor(scope);
  REQUIRE(at);
  std::optional<std::string> cursor = cursors::with_parameter(*at, "limit", std::to_string(limit));
  for (; cursor && pages < 1000; ++pages) {
    const auto text = cursors::parameter(*cursor, "until");
    const auto until = text ? std::stoll(std::string{*text}) : now_ms * 2;
    std::vector<std::string> items;
    std::string next = "null";
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (e == edge::inclusive ? times[i] > until : times[i] >= until) continue;
      if (items.size() == limit) {
        next = std::to_string(times[i - 1]);
        break;
      }
      items.push_back(deployment("dpl_" + std::to_string(i), times[i]));
    }
    const auto r = page_of(items, next);
    const auto page = parsed(vercel, scope, r, *cursor);
    for (const auto& item : page.items)
      ids.push_back(item.key);
    cursor = page.next;
  }
  CHECK(pages < 1000);
  return ids;
}

} // namespace

TEST_CASE("vercel: ties at a page edge are met whichever way until is meant (B24, B25)") {
  for (auto e : {edge::inclusive, edge::exclusive}) {
    for (std::size_t count : {0u, 1u, 99u, 100u, 101u, 250u}) {
      for (std::size_t ties : {1u, 2u, 7u}) {
        INFO(count << " items, " << ties << " of each time");
        std::vector<std::int64_t> times;
        for (std::size_t i = 0; i < count; ++i)
          times.push_back(now_ms - static_cast<std::int64_t>(i / ties));
        for (std::size_t limit : {100u, 25u}) {
          const auto ids = read_all(times, e, limit);
          CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == count);
        }
      }
    }
  }
}

TEST_CASE("vercel: a payload is Vercel's webhook, the item byte for byte (B26)") {
  const std::string item = R"({"uid" : "dpl_1","created":)" + std::to_string(now_ms)
                           + R"(, "n":123456789012345678901234567890,"s":"\u00e9é"})";
  const auto r = page_of({item}, "null");
  const auto scope = vercel_scope();
  const auto page = parsed(vercel, scope, r);
  const auto text = payload(vercel, scope, page.items[0]);
  CHECK(text
        == R"({"id":"backfill-inst_2-prj_1-deploy-dpl_1","type":"deployment.created","createdAt":)"
             + std::to_string(now_ms) + R"(,"deployment":)" + item
             + R"(,"project":{"id":"prj_1","name":"web"},"team":{"id":"team_a"}})");
}

TEST_CASE("vercel: limits come in headers or in the body (B14, B24)") {
  const auto body = R"({"error":{"code":"rate_limited","message":"Too many requests","limit":)"
                    R"({"remaining":0,"reset":)"
                    + std::to_string(now_ms / 1000 + 30) + R"(,"resetMs":)"
                    + std::to_string(now_ms + 30'500) + R"(,"total":100}}})";
  auto v = judged(429, body);
  CHECK(v.kind == answer_kind::limited);
  CHECK(v.rate.wait_until == now + 31'500ms);
  v = judged(429, R"({"error":{"code":"too_many_requests","message":"Slow down"}})",
             {{.name = "Retry-After", .value = "12"}});
  CHECK(v.kind == answer_kind::limited);
  CHECK(v.rate.wait_until == now + 12s);
  CHECK(judged(429, R"({"error":{"limit":{"resetMs":-5,"reset":null}}})").rate.wait_until
        == now + 60s);
}

TEST_CASE("vercel: 401 and an invalid token ask for a fresh one, other 403 are final (B12, B24)") {
  CHECK(judged(401, "").kind == answer_kind::unauthorized);
  CHECK(
    judged(403, R"({"error":{"code":"forbidden","message":"Not authorized","invalidToken":true}})")
      .kind
    == answer_kind::unauthorized);
  CHECK(
    judged(403, R"({"error":{"code":"forbidden","message":"The token provided is invalid"}})").kind
    == answer_kind::unauthorized);
  const auto v = judged(403, R"({"error":{"code":"forbidden","message":"Not authorized: scope"}})");
  CHECK(v.kind == answer_kind::forbidden);
  CHECK(v.detail == "GET https://api.vercel.com/v7/deployments: 403: \"Not authorized: scope\"");
}

TEST_CASE("vercel: 404 is gone, 5xx transient, and pages shrink (B23, B24)") {
  CHECK(judged(404, R"({"error":{"code":"not_found","message":"Project not found"}})").kind
        == answer_kind::gone);
  CHECK(judged(504, "").smaller_page);
  CHECK(judged(500, "").kind == answer_kind::transient);
  CHECK(vercel.smaller("/x?limit=100&until=5") == "/x?limit=50&until=5");
  CHECK_FALSE(vercel.smaller("/x?limit=25"));
}
