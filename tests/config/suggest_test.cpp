#include "config/suggest.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("suggest: a slip of the finger is understood, a stranger is not") {
  const std::vector<std::string> known{"listen", "client.timeout", "client.connect_timeout",
                                       "log.level"};
  CHECK(suggest("client.tiemout", known) == "client.timeout");
  CHECK(suggest("client.timout", known) == "client.timeout");
  CHECK(suggest("lisen", known) == "listen");
  CHECK(suggest("level", known) == "log.level");
  CHECK(suggest("server.timeout", known) == "client.timeout");
  CHECK(suggest("colour", known).empty());
  CHECK(suggest("", known).empty());
  CHECK(suggest("x", {}).empty());
}
