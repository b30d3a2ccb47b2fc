#include "rules/delivery_id.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace sluice;

TEST_CASE("delivery_id: has the form that gateways know (B19)") {
  CHECK(delivery_id({"inst_1", "42", "pr", "7"}) == "backfill-inst_1-42-pr-7");
  CHECK(delivery_id({"inst_1", "42", "issue", "7"}) == "backfill-inst_1-42-issue-7");
  CHECK(delivery_id({"inst_1", "42", "release", "99"}) == "backfill-inst_1-42-release-99");
  CHECK(delivery_id({"i", "prj_a", "deploy", "dpl_b"}) == "backfill-i-prj_a-deploy-dpl_b");
}

TEST_CASE("delivery_id: two repositories with the same number never collide (B19)") {
  rc::check([](std::uint32_t repo1, std::uint32_t item1, std::uint32_t repo2, std::uint32_t item2) {
    const auto a = std::to_string(repo1);
    const auto b = std::to_string(item1);
    const auto c = std::to_string(repo2);
    const auto d = std::to_string(item2);
    const bool same = a == c && b == d;
    RC_ASSERT((delivery_id({"i-1", a, "pr", b}) == delivery_id({"i-1", c, "pr", d})) == same);
    RC_ASSERT(delivery_id({"i-1", a, "pr", b}) != delivery_id({"i-1", a, "issue", b}));
  });
}

TEST_CASE("delivery_id: only plain short text may stand for an item (B19, B28)") {
  CHECK(is_item_id("dpl_5WJWYSyB7BpgTj3EuwF37WMRBXBtPQ2iTMJHJBJyRfd"));
  CHECK(is_item_id(std::string(128, 'a')));
  for (const auto& wrong :
       {std::string{}, std::string(129, 'a'), std::string{"a b"}, std::string{"a\n"},
        std::string{"a\"b"}, std::string{"ü"}, std::string{"a\0b", 3}, std::string{"a/b"}})
    CHECK_FALSE(is_item_id(wrong));
}
