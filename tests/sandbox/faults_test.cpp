#include "tests/sandbox/visitor.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace sluice;
using namespace sluice::test;

namespace {

const std::string pulls = "/github/repositories/100100001/pulls?state=all&per_page=1&page=";

std::string id(int n) {
  return "backfill-conn-1-100100001-pr-" + std::to_string(n);
}

/// What 20 pages, each asked for three times, answer.
std::string pages_of(const sandbox::options& o) {
  visitor v{o};
  v.sign_in("conn-1");
  std::string seen;
  for (int nth = 0; nth < 3; ++nth) {
    for (int n = 1; n <= 20; ++n) {
      const auto r = v.get(pulls + std::to_string(n));
      seen += std::to_string(r.status) + "/" + std::to_string(r.body.size())
              + (r.cut_after ? "cut " : " ") + header_of(r, "Retry-After");
    }
  }
  return seen;
}

std::map<int, int> statuses_of(visitor& v, int events) {
  std::map<int, int> seen;
  for (int n = 1; n <= events; ++n)
    ++seen[v.deliver(id(n), "pull_request", "{}").status];
  return seen;
}

} // namespace

TEST_CASE("faults: the seed decides, and nothing else") {
  auto o = small_world();
  o.faults.provider_errors = 0.2;
  o.faults.truncated = 0.1;
  o.faults.html = 0.1;
  o.faults.secondary = 0.1;
  const auto one = pages_of(o);
  CHECK(pages_of(o) == one);
  o.seed = 2;
  CHECK(pages_of(o) != one);
}

TEST_CASE("faults: without any every page is whole") {
  const auto seen = pages_of(small_world());
  CHECK(seen.find("cut") == std::string::npos);
  for (const auto* status : {"403/", "429/", "500/", "502/", "503/"})
    CHECK(seen.find(status) == std::string::npos);
}

TEST_CASE("faults: a page that failed was not served, and comes later (B28)") {
  auto o = small_world();
  const auto fault = GENERATE(0, 1, 2);
  double* const shares[] = {&o.faults.provider_errors, &o.faults.truncated, &o.faults.html};
  *shares[fault] = 1;
  visitor v{o};
  v.sign_in("conn-1");
  const auto r = v.get(pulls + "1");
  CHECK(v.ledger("served") == 0);
  CHECK(v.ledger("provider_faults") == 1);
  CHECK(v.get("/ledger").body.find(R"("page_fetches":{"total":0)") != std::string::npos);
  if (fault == 0) CHECK(r.status >= 500);
  if (fault == 1) CHECK((r.cut_after || r.body.size() < 2'000));
  if (fault == 2) CHECK(r.body.starts_with("<!DOCTYPE html>"));
}

TEST_CASE("faults: secondary limits come as 403 and 429, with Retry-After and without (B23)") {
  auto o = small_world();
  o.faults.secondary = 1;
  visitor v{o};
  v.sign_in("conn-1");
  std::map<std::pair<int, bool>, int> seen;
  for (int n = 1; n <= 40; ++n) {
    const auto r = v.get(pulls + std::to_string(n));
    CHECK(r.body.find("secondary rate limit") != std::string::npos);
    ++seen[{r.status, !header_of(r, "Retry-After").empty()}];
  }
  CHECK(seen.size() == 4);
  CHECK(v.ledger("rate_limited") == 40);
  CHECK(v.ledger("rate_exceeded") > 0); // nobody waited
}

TEST_CASE("faults: poison is one of so many ids, always the same, and never expected (B18)") {
  auto o = small_world();
  o.faults.poison_every = 4;
  visitor v{o};
  v.sign_in("conn-1");
  const auto items = read_all(v, "/github/repositories/100100001/pulls?state=all&per_page=100");
  int refused = 0;
  for (const auto& item : items) {
    const auto name = id(static_cast<int>(number_of(item, "number")));
    const auto status = v.deliver(name, "pull_request", item).status;
    CHECK(v.deliver(name, "pull_request", item).status == status);
    if (status == 400) ++refused;
  }
  CHECK(refused > 0);
  CHECK(refused < 25);
  CHECK(v.ledger("poisoned") == refused);
  CHECK(v.ledger("expected") == 25 - refused);
  CHECK(v.ledger("missing") == 0);
}

TEST_CASE("faults: the gateway's errors hit their share, and not the next try (B15)") {
  auto o = small_world();
  o.faults.gateway_errors = 0.3;
  o.faults.gateway_busy = 0.2;
  visitor v{o};
  const auto first = statuses_of(v, 400);
  // 400 × 0.3 = 120 and 280 × 0.2 = 56 are meant; four times their deviation is 37 and 27.
  const auto errors = 400 - first.at(202) - first.at(429);
  CHECK(errors > 83);
  CHECK(errors < 157);
  CHECK(first.at(429) > 29);
  CHECK(first.at(429) < 83);
  CHECK(v.ledger("distinct") == first.at(202));
  for (int i = 0; i < 40; ++i)
    (void)statuses_of(v, 400);
  CHECK(v.ledger("distinct") == 400);
}

TEST_CASE("faults: a lost answer is an event that was taken (B16)") {
  auto o = small_world();
  o.faults.lost_answers = 1;
  visitor v{o};
  CHECK(v.deliver(id(1), "pull_request", "{}").lost);
  CHECK(v.ledger("distinct") == 1);
  CHECK(v.ledger("lost_answers") == 1);
}

TEST_CASE("faults: latency is told to the server, each side its own") {
  auto o = small_world();
  o.faults.provider_latency = std::chrono::milliseconds{50};
  o.faults.gateway_latency = std::chrono::milliseconds{20};
  visitor v{o};
  v.sign_in("conn-1");
  CHECK(v.get(pulls + "1").delay == std::chrono::milliseconds{50});
  CHECK(v.deliver(id(1), "pull_request", "{}").delay == std::chrono::milliseconds{20});
  CHECK(v.get("/ledger").delay == duration{0});
}

TEST_CASE("faults: a list that moves repeats an item on the next page, or hides one (B25)") {
  auto o = small_world();
  o.faults.shift_every = 2;
  visitor v{o};
  v.pass(std::chrono::hours{1});
  v.sign_in("conn-1");
  std::map<std::int64_t, int> seen;
  for (const auto& item : read_all(v, "/github/repositories/100100001/"
                                      "pulls?state=all&sort=updated&direction=desc&per_page=5"))
    ++seen[number_of(item, "number")];
  CHECK(seen.size() < 25); // the oldest went to the front when the reader was past it
  CHECK(std::ranges::any_of(seen, [](const auto& s) { return s.second > 1; }));
}
