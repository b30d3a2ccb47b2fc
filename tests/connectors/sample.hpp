#pragma once

#include "base/clock.hpp"
#include "base/time_text.hpp"
#include "connectors/connector.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

/// Units, items and answers as the providers would give them.
namespace sample {

using namespace sluice;

// 2026-11-18T00:00:00Z
inline constexpr timestamp now = from_millis(1'794'960'000'000);

inline unit_scope github_scope(std::string entity) {
  return {.installation = "inst_1",
          .resource_id = "4242",
          .resource_name = "octo/hello",
          .entity = std::move(entity),
          .since = now - std::chrono::days{30},
          .base_url = "https://api.github.com"};
}

inline unit_scope vercel_scope() {
  return {.installation = "inst_2",
          .external_id = "team_a",
          .resource_id = "prj_1",
          .resource_name = "web",
          .entity = "deployment",
          .since = now - std::chrono::days{30},
          .base_url = "https://api.vercel.com"};
}

inline std::string quoted_time(timestamp t) {
  return '"' + to_query_time(t) + '"';
}

/// A pull request or issue as lists show it.
inline std::string issue(unsigned number, timestamp updated, std::string_view extra = "") {
  return R"({"id":)" + std::to_string(900'000 + number) + R"(,"number":)" + std::to_string(number)
         + R"(,"state":"open","title":"no )" + std::to_string(number)
         + R"(","user":{"login":"octocat","id":1},"updated_at":)" + quoted_time(updated)
         + std::string{extra} + "}";
}

inline std::string deployment(const std::string& uid, std::int64_t created,
                              std::string_view state = "READY") {
  return R"({"uid":")" + uid + R"(","name":"web","created":)" + std::to_string(created)
         + R"(,"readyState":")" + std::string{state} + R"(","projectId":"prj_1"})";
}

inline std::string array(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const auto& item : items)
    text += (text.size() > 1 ? ",\n" : "") + item;
  return text + "]";
}

inline std::string deployments(const std::vector<std::string>& items, const std::string& next) {
  return R"({"pagination":{"count":)" + std::to_string(items.size()) + R"(,"next":)" + next
         + R"(,"prev":null},"deployments":)" + array(items) + "}";
}

inline http_response answer(int status, std::string body, std::vector<http_header> headers = {},
                            std::string url = "https://api.github.com/repos/octo/hello/pulls?x=1") {
  http_response r;
  r.status = status;
  r.body = std::move(body);
  r.headers = std::move(headers);
  r.final_url = std::move(url);
  return r;
}

inline http_header link(const std::string& target, const std::string& rel = "next") {
  return {.name = "Link", .value = "<" + target + ">; rel=\"" + rel + "\""};
}

inline list_page parsed(const connector& c, const unit_scope& scope, const http_response& r,
                        const std::string& cursor = "/first") {
  auto page = c.parse(scope, cursor, r);
  if (!page) FAIL(to_text(page.error()));
  return *page;
}

inline std::string problem(const connector& c, const unit_scope& scope, const http_response& r,
                           const std::string& cursor = "/first") {
  auto page = c.parse(scope, cursor, r);
  REQUIRE_FALSE(page);
  CHECK(code_of(page.error()) == errc::bad_input);
  return detail_of(page.error());
}

inline std::vector<std::string> wanted_keys(const list_page& page) {
  std::vector<std::string> keys;
  for (const auto& item : page.items)
    if (item.wanted) keys.push_back(item.key);
  return keys;
}

inline std::string payload(const connector& c, const unit_scope& scope, const page_item& item) {
  std::string out;
  c.write_payload(out, scope, item);
  return out;
}

} // namespace sample
