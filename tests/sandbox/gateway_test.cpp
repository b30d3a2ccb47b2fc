#include "tests/sandbox/visitor.hpp"

#include <catch2/catch.hpp>

using namespace sluice;
using namespace sluice::test;

TEST_CASE("gateway: a connection has its resources, and others are not there (B4)") {
  auto o = small_world();
  o.big_tenant = 5;
  visitor v{o};
  const auto one = v.get("/gateway/connections/conn-1");
  CHECK(one.status == 200);
  CHECK(visitor::text_in(one.body, "provider") == "github");
  CHECK(visitor::text_in(one.body, "status") == "active");
  CHECK(visitor::text_in(one.body, "orgId") == "org-conn-1");
  auto resources = [&](const std::string& id) {
    const auto parsed = json::document::parse(v.get("/gateway/connections/" + id).body);
    return parsed->root().find("resources").value().items().value().size();
  };
  CHECK(resources("conn-2") == 2);
  CHECK(resources("vconn-1") == 1);
  CHECK(resources("big") == 5);
  for (const auto* id : {"conn-0", "conn-3", "conn-01", "vconn-2", "conn-", "nobody", ""})
    CHECK(v.get(std::string{"/gateway/connections/"} + id).status == 404);
}

TEST_CASE("gateway: scopes and disabled types are mentioned when asked for (B21)") {
  auto o = small_world();
  visitor plain{o};
  CHECK(plain.get("/gateway/connections/conn-1").body.find("scopes") == std::string::npos);
  o.scopes = {"repo"};
  o.disabled_types = {"release"};
  visitor v{o};
  const auto body = v.get("/gateway/connections/conn-1").body;
  CHECK(body.find(R"("scopes":["repo"],"disabledEventTypes":["release"])") != std::string::npos);
}

TEST_CASE("gateway: everything needs the key") {
  visitor v;
  v.api_key = "wrong";
  CHECK(v.get("/gateway/connections/conn-1").status == 401);
  CHECK(v.get("/gateway/connections/conn-1/token").status == 401);
  CHECK(v.deliver("backfill-conn-1-100100001-pr-1", "pull_request", "{}").status == 401);
  CHECK(v.ledger("delivered") == 0);
  CHECK(v.ledger("tokens_issued") == 0);
}

TEST_CASE("gateway: each call gives a new token with its life") {
  auto o = small_world();
  o.token_ttl = std::chrono::seconds{90};
  visitor v{o};
  const auto one = v.get("/gateway/connections/conn-1/token").body;
  const auto two = v.get("/gateway/connections/conn-1/token").body;
  CHECK(visitor::text_in(one, "accessToken") != visitor::text_in(two, "accessToken"));
  CHECK(visitor::number_in(one, "expiresIn") == 90);
}

TEST_CASE("gateway: events that cannot be read or disagree with themselves are refused") {
  visitor v;
  for (const auto* body : {"", "{", "[]", "{}", R"({"deliveryId":"x"})"})
    CHECK(v.ask("POST", "/gateway/webhooks/github", body).status == 400);
  CHECK(v.ledger("malformed") == 5);
  CHECK(v.deliver("backfill-conn-1-100100001-pr-1", "pull_request", "{}", "conn-2").status == 400);
  CHECK(v.deliver("backfill-conn-1-100100001-pr-1", "pull_request", "{}", "conn-1", "vercel").status
        == 400);
  CHECK(v.deliver("backfill-conn-12-100100001-pr-1", "pull_request", "{}").status == 400);
  CHECK(v.ledger("misaddressed") == 3);
  CHECK(v.ledger("delivered") == 0);
}

TEST_CASE("gateway: is down once, after so many events and for so long") {
  auto o = small_world();
  o.faults.down_after = 1;
  o.faults.down_for = std::chrono::seconds{5};
  visitor v{o};
  CHECK(v.get("/gateway/connections/conn-1").status == 200);
  CHECK(v.deliver("backfill-conn-1-100100001-pr-1", "pull_request", "{}").status == 202);
  CHECK(v.deliver("backfill-conn-1-100100001-pr-3", "pull_request", "{}").status == 503);
  v.pass(std::chrono::milliseconds{4'999});
  CHECK(v.get("/gateway/connections/conn-1").status == 503);
  CHECK(v.ledger("calls_while_down") == 2);
  v.pass(std::chrono::milliseconds{1});
  CHECK(v.deliver("backfill-conn-1-100100001-pr-3", "pull_request", "{}").status == 202);
  v.pass(std::chrono::hours{1});
  CHECK(v.get("/gateway/connections/conn-1").status == 200);
}

TEST_CASE("gateway: duplicates are taken, or answered 409 with --dedupe") {
  auto o = small_world();
  o.dedupe = GENERATE(false, true);
  visitor v{o};
  const std::string id = "backfill-conn-1-100100001-pr-1";
  CHECK(v.deliver(id, "pull_request", "{}").status == 202);
  CHECK(v.deliver(id, "pull_request", "{}").status == (o.dedupe ? 409 : 202));
  CHECK(v.ledger("duplicates") == 1);
}
