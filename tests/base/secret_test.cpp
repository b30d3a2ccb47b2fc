#include "base/secret.hpp"

#include <catch2/catch.hpp>

#include <concepts>
#include <sstream>

using namespace sluice;

template <class T>
concept printable = requires(std::ostream& out, const T& x) { out << x; };

TEST_CASE("secret: cannot be printed, converted or compared by accident (S6)") {
  STATIC_REQUIRE(printable<std::string>);
  STATIC_REQUIRE_FALSE(printable<secret>);
  STATIC_REQUIRE_FALSE(std::convertible_to<secret, std::string>);
  STATIC_REQUIRE_FALSE(std::convertible_to<secret, std::string_view>);
  STATIC_REQUIRE_FALSE(std::convertible_to<std::string, secret>);
  STATIC_REQUIRE_FALSE(std::equality_comparable<secret>);
}

TEST_CASE("secret: a moved secret leaves nothing behind (S6)") {
  secret from{"hunter2"};
  const secret to{std::move(from)};
  CHECK(to.reveal() == "hunter2");
  CHECK(from.empty()); // NOLINT(bugprone-use-after-move): this is the promise
  secret other{"old-value"};
  other = to;
  CHECK(other.reveal() == "hunter2");
  CHECK(to.reveal() == "hunter2");
}
