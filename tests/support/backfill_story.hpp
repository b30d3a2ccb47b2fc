#pragma once

#include "connectors/catalog.hpp"
#include "sandbox/sandbox.hpp"
#include "tests/support/story.hpp"
#include "workflows/backfill.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A whole node in virtual time whose network is the sandbox: the real connectors, gates and
/// deliveries against a provider and a gateway that keep a ledger.
class backfill_story {
public:
  explicit backfill_story(sandbox::options o = small())
    : flows_{all_flows()}, world{flows_, wired()} {
    world.network = [this](const http_request& r) { return answer(r); };
    sandbox_.emplace(std::move(o), [this] { return world.now(); });
  }

  static sandbox::options small() {
    sandbox::options o;
    o.tenants = 2;
    o.repos = 1;
    o.pulls = 250;
    o.issues = 30;
    o.releases = 12;
    o.vercel_tenants = 1;
    o.projects = 1;
    o.rate_limit = 100'000;
    return o;
  }

  result<run_accepted> trigger(std::string installation, std::string provider = "github",
                               std::vector<std::string> entities = {}) {
    backfill_request in;
    in.installation = installation;
    in.provider = std::move(provider);
    in.org = "org-" + installation;
    in.entities = std::move(entities);
    run_request r;
    r.workflow = backfill_run_name;
    r.input = json::encode(in);
    r.installation = installation;
    return world.start(std::move(r));
  }

  bool ended(run_id run) { return world.row(run) && is_terminal(world.row(run)->status); }
  bool run_to_end(run_id run, duration at_most = std::chrono::hours{12}) {
    return world.pass_until([&] { return ended(run); }, at_most);
  }
  backfill_result result_of(run_id run) {
    auto result = json::decode<backfill_result>(world.outcome(run)->result.text);
    REQUIRE(result);
    return std::move(*result);
  }
  /// The ledger, of the lists that were fetched.
  std::string ledger() {
    http::request ask;
    ask.method = "GET";
    ask.target = "/ledger";
    return sandbox_->answer(ask).body;
  }
  std::uint64_t ledger(std::string_view name) {
    const auto body = ledger();
    const auto key = "\"" + std::string{name} + "\":";
    const auto at = body.find(key);
    REQUIRE(at != std::string::npos);
    return std::stoull(body.substr(at + key.size()));
  }
  void nothing_lost() {
    INFO(ledger());
    CHECK(ledger("expected") > 0);
    CHECK(ledger("missing") == 0);
    CHECK(ledger("corrupted") == 0);
    CHECK(world.death().empty());
  }

  /// What came from a host, and how often; asked before it is answered.
  std::function<std::optional<http_response>(const http_request&)> before;
  std::vector<std::string> gets;
  std::uint64_t posts = 0;

private:
  static catalog all_flows() {
    backfill_config c;
    c.gateway_url = "http://sandbox.test/gateway";
    c.api_key = secret{"sandbox-key"};
    c.base_urls["github"] = "http://sandbox.test/github";
    c.base_urls["vercel"] = "http://sandbox.test/vercel";
    c.connectors = std::make_shared<const connector_catalog>(built_in_connectors());
    catalog flows;
    add_backfill(flows, std::move(c));
    return flows;
  }
  static world_options wired() {
    world_options o;
    o.gates.gateway = {"http://sandbox.test/gateway", secret{"sandbox-key"}};
    o.gateway.access = {"http://sandbox.test/gateway", secret{"sandbox-key"}};
    return o;
  }

  http_response answer(const http_request& r) {
    if (r.method == "GET") gets.push_back(r.url.substr(r.url.find('/', 8)));
    if (r.method == "POST") ++posts;
    if (before)
      if (auto own = before(r)) return std::move(*own);
    http::request asked;
    asked.method = r.method;
    asked.target = r.url.substr(r.url.find('/', 8));
    for (const auto& h : r.headers)
      asked.headers.push_back({h.name, h.value});
    asked.headers.push_back({"Host", "sandbox.test"});
    asked.body = r.body;
    auto said = sandbox_->answer(asked);
    http_response response;
    response.final_url = r.url;
    if (said.lost) {
      response.error = "the connection was closed";
      return response;
    }
    response.status = said.status;
    response.body = std::move(said.body);
    if (said.cut_after) {
      response.body.resize(std::min(response.body.size(), *said.cut_after));
      response.error = "the connection was closed inside the body";
    }
    response.headers.push_back({"Content-Type", said.content_type});
    for (auto& h : said.headers)
      response.headers.push_back({std::move(h.name), std::move(h.value)});
    return response;
  }

  catalog flows_;
  std::optional<sandbox::sandbox> sandbox_;

public:
  sluice::world world;
};

} // namespace sluice
