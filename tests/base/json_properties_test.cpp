#include "base/json.hpp"
#include "base/json_mistake.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>

using namespace sluice;

TEST_CASE("json: any bytes become a string that parses, and UTF-8 comes back as it was") {
  CHECK(rc::check([](const std::string& bytes) {
    auto first = json::decode<std::string>(json::quoted(bytes));
    RC_ASSERT(static_cast<bool>(first));
    // What is left is UTF-8, so a second time changes nothing.
    auto second = json::decode<std::string>(json::quoted(*first));
    RC_ASSERT(static_cast<bool>(second));
    RC_ASSERT(*second == *first);
    const bool ascii = std::ranges::all_of(bytes, [](char c) { return c >= 0; });
    if (ascii) RC_ASSERT(*first == bytes);
  }));
}

TEST_CASE("json: every finite double reads back as itself") {
  CHECK(rc::check([](std::uint64_t bits) {
    const auto d = std::bit_cast<double>(bits);
    RC_PRE(std::isfinite(d));
    auto back = json::decode<double>(json::encode(d));
    RC_ASSERT(static_cast<bool>(back));
    RC_ASSERT(std::bit_cast<std::uint64_t>(*back) == bits);
  }));
}

TEST_CASE("json: maps of any names and integers round trip") {
  CHECK(rc::check([](const std::map<std::string, std::int64_t>& raw_names) {
    std::map<std::string, std::int64_t> names;
    for (const auto& [name, value] : raw_names)
      names.emplace(*json::decode<std::string>(json::quoted(name)), value);
    auto back = json::decode<std::map<std::string, std::int64_t>>(json::encode(names));
    RC_ASSERT(static_cast<bool>(back));
    RC_ASSERT(*back == names);
  }));
}

TEST_CASE("json: the slow reader finds a mistake exactly where the parser refuses ASCII text") {
  CHECK(rc::check([] {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("{", "}", "[", "]", ",", ":", "\"a\"", "\"", "\\", "\\n", "1",
                                    "-", "0", ".5", "e3", "true", "nul", "null", " ", "\n"));
    std::string text;
    for (const auto& piece : pieces)
      text += piece;
    RC_ASSERT(static_cast<bool>(json::document::parse(text)) == !json::find_mistake(text));
  }));
}
