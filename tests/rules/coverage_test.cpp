#include "rules/coverage.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

backfill_request asked(std::uint32_t depth, std::vector<std::string> types) {
  return {"i-1", "github", "o-1", depth, std::move(types), {}};
}

} // namespace

TEST_CASE("coverage: window and types must both be held (B1)") {
  CHECK(covers(asked(30, {}), asked(30, {})));
  CHECK(covers(asked(90, {}), asked(30, {"issue"})));
  CHECK(!covers(asked(7, {}), asked(30, {})));
  CHECK(covers(asked(30, {"issue", "release"}), asked(30, {"release"})));
  CHECK(!covers(asked(30, {"issue"}), asked(30, {"issue", "release"})));
  CHECK(!covers(asked(30, {"issue", "release", "pull_request"}), asked(30, {})));
}

TEST_CASE("coverage: another account or provider is not covered, and a retry covers nothing (B1)") {
  auto other = asked(30, {});
  other.org = "o-2";
  CHECK(!covers(asked(30, {}), other));
  other = asked(30, {});
  other.provider = "vercel";
  CHECK(!covers(asked(30, {}), other));
  auto retry = asked(90, {});
  retry.retry = unit_retry{"r", "u"};
  CHECK(!covers(retry, asked(30, {})));
  CHECK(!covers(asked(90, {}), retry));
}
