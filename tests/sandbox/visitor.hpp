#pragma once

#include "base/json.hpp"
#include "sandbox/sandbox.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

/// A small world: one repository and one project, a few pages each.
inline sandbox::options small_world() {
  sandbox::options o;
  o.tenants = 2;
  o.repos = 2;
  o.pulls = 25;
  o.issues = 12;
  o.releases = 11;
  o.vercel_tenants = 1;
  o.projects = 1;
  o.deployments = 25;
  return o;
}

/// One who talks to a sandbox without a socket, at a time that only he moves.
class visitor {
public:
  explicit visitor(const sandbox::options& o = small_world())
    : shown_{std::make_unique<sandbox::sandbox>(o, [at = now_] { return *at; })} {}

  void pass(duration d) { *now_ += d; }
  [[nodiscard]] timestamp now() const { return *now_; }

  http::response ask(std::string method, std::string target, std::string body = {}) {
    http::request r;
    r.method = std::move(method);
    r.target = std::move(target);
    r.body = std::move(body);
    r.headers = {{"Host", "127.0.0.1:8095"}, {"X-API-Key", api_key}};
    if (!token.empty()) r.headers.push_back({"Authorization", "Bearer " + token});
    return shown_->answer(r);
  }
  http::response get(std::string target) { return ask("GET", std::move(target)); }

  /// Takes a new token for `connection` and uses it from now on.
  void sign_in(const std::string& connection) {
    token = text_in(get("/gateway/connections/" + connection + "/token").body, "accessToken");
  }

  http::response deliver(const std::string& id, const std::string& key, std::string_view item,
                         const std::string& connection = "conn-1",
                         const std::string& provider = "github") {
    json::writer w;
    w.obj().key("connectionId").str(connection).key("orgId").str("org-" + connection);
    w.key("deliveryId").str(id).key("eventType").str(key).key("payload").obj();
    w.key("action").str("opened").key(key).raw(item);
    w.key("repository").obj().key("id").num(std::int64_t{1}).end().end();
    w.key("receivedAt").num(to_millis(now())).end();
    return ask("POST", "/gateway/webhooks/" + provider, w.take());
  }

  std::int64_t ledger(const std::string& field, const std::string& query = {}) {
    return number_in(get("/ledger" + query).body, field);
  }

  static std::string text_in(const std::string& body, const std::string& field) {
    const auto parsed = json::document::parse(body);
    return std::string{parsed->root().find(field).value().str().value()};
  }
  static std::int64_t number_in(const std::string& body, const std::string& field) {
    const auto parsed = json::document::parse(body);
    return parsed->root().find(field).value().i64().value();
  }

  std::string api_key = "sandbox-key";
  std::string token;

private:
  std::shared_ptr<timestamp> now_ = std::make_shared<timestamp>(from_millis(1'795'000'000'000));
  std::unique_ptr<sandbox::sandbox> shown_;
};

inline std::string header_of(const http::response& r, std::string_view name) {
  for (const auto& f : r.headers) {
    if (http::same_name(f.name, name)) return f.value;
  }
  return {};
}

/// The path of a link, without scheme and host; empty when there is none of that `rel`.
inline std::string link_of(const http::response& r, const std::string& rel) {
  const auto links = header_of(r, "Link");
  const auto end = links.find(">; rel=\"" + rel + "\"");
  if (end == std::string::npos) return {};
  const auto begin = links.rfind("<http://127.0.0.1:8095", end);
  return links.substr(begin + 22, end - begin - 22);
}

/// The objects of a JSON array, byte for byte.
inline std::vector<std::string> items_of(std::string_view text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = text.find('['); i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (text[i] == '{' || text[i] == '[')) {
      if (++depth == 2) begin = i;
    } else if (!quoted && (text[i] == '}' || text[i] == ']')) {
      if (--depth == 1) items.emplace_back(text.substr(begin, i + 1 - begin));
      if (depth == 0) break;
    }
  }
  return items;
}

/// The first number behind `"name":` in an item: parsing it would refuse its large integers.
inline std::int64_t number_of(const std::string& item, const std::string& name) {
  const auto at = item.find("\"" + name + "\":");
  if (at == std::string::npos) throw std::runtime_error{"no " + name};
  return std::stoll(item.substr(at + name.size() + 3));
}

/// The first text behind `"name":"`.
inline std::string word_of(const std::string& item, const std::string& name) {
  const auto at = item.find("\"" + name + "\":\"");
  if (at == std::string::npos) throw std::runtime_error{"no " + name};
  const auto begin = at + name.size() + 4;
  return item.substr(begin, item.find('"', begin) - begin);
}

/// All items of a GitHub list, page by page.
inline std::vector<std::string> read_all(visitor& v, std::string path) {
  std::vector<std::string> all;
  while (!path.empty()) {
    const auto page = v.get(path);
    if (page.status != 200) throw std::runtime_error{"status " + std::to_string(page.status)};
    for (auto& item : items_of(page.body))
      all.push_back(std::move(item));
    path = link_of(page, "next");
  }
  return all;
}

} // namespace sluice::test
