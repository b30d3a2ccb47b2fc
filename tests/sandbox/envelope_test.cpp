#include "sandbox/envelope.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace sluice::sandbox;

namespace {

const std::string item = R"({"a":"}]\"{","b":[1,{"c":-1.5E+3}],"d":null})";

std::string body(const std::string& inside) {
  return R"({"connectionId":"c","orgId":"o","deliveryId":"d-1","eventType":"issue","payload":)"
         R"({"action":"opened","issue":)"
         + inside + R"(,"repository":{"id":1}},"receivedAt":17})";
}

} // namespace

TEST_CASE("envelope: finds the fields and the item, byte for byte") {
  const auto text = body(" " + item + " ");
  const auto e = read_envelope(text);
  REQUIRE(e);
  CHECK(e->connection == "c");
  CHECK(e->org == "o");
  CHECK(e->delivery == "d-1");
  CHECK(e->event_type == "issue");
  CHECK(e->received_at == "17");
  CHECK(e->item_key == "issue");
  CHECK(e->item == item);
}

TEST_CASE("envelope: members may come in any order") {
  const std::string text = R"({"payload":{"release":{"id":1}},"other":[[],{}],"deliveryId":"x"})";
  const auto e = read_envelope(text, [](std::string_view) { return std::size_t{8}; });
  REQUIRE(e);
  CHECK(e->item == R"({"id":1})");
  CHECK(e->delivery == "x");
}

TEST_CASE("envelope: a known length saves the walk, a wrong one is not believed") {
  const auto text = body(item);
  for (const std::size_t length : {item.size(), std::size_t{0}, std::size_t{5}, item.size() - 1,
                                   item.size() + 1, text.size(), std::size_t{100'000}}) {
    INFO(length);
    const auto e = read_envelope(text, [&](std::string_view id) {
      CHECK(id == "d-1");
      return length;
    });
    REQUIRE(e);
    CHECK(e->item == item);
  }
}

TEST_CASE("envelope: broken text is told") {
  const auto whole = body(item);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    INFO(n);
    CHECK_FALSE(read_envelope(std::string_view{whole}.substr(0, n)));
  }
  for (const auto* text : {"", "null", "[]", "{", "{]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{} x",
                           "{\"deliveryId\":7}", "{\"payload\":[]}", "{\"a\":[1 2]}"}) {
    INFO(text);
    CHECK_FALSE(read_envelope(text));
  }
}

TEST_CASE("envelope: nesting has an end") {
  const std::string deep = R"({"a":)" + std::string(100'000, '[');
  CHECK_FALSE(read_envelope(deep));
}
