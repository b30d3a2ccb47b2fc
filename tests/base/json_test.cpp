#include "base/json.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <thread>

using namespace sluice;

namespace {

enum class colour : std::uint8_t { red = 0, green = 1 };

struct inner {
  std::string name;
  std::optional<int> size;
};
template <class Fields>
void describe(Fields& f, inner& x) {
  f("name", x.name);
  f("size", x.size);
}

struct outer {
  std::int64_t count = 7;
  std::uint16_t port = 80;
  double rate = 0.5;
  bool on = false;
  colour paint = colour::red;
  std::vector<inner> parts;
  std::map<std::string, std::string> labels;
  json::raw rest;
  timestamp at{};
  duration wait{};
  uuid id;
};
template <class Fields>
void describe(Fields& f, outer& x) {
  f("count", x.count);
  f("port", x.port);
  f("rate", x.rate);
  f("on", x.on);
  f("paint", x.paint);
  f("parts", x.parts);
  f("labels", x.labels);
  f("rest", x.rest);
  f("at", x.at);
  f("wait", x.wait);
  f("id", x.id);
}

std::string mistake_in(std::string_view text) {
  auto parsed = json::document::parse(text);
  REQUIRE_FALSE(parsed);
  CHECK(code_of(parsed.error()) == errc::bad_input);
  return detail_of(parsed.error());
}

std::string decode_error(std::string_view text) {
  auto x = json::decode<outer>(text);
  REQUIRE_FALSE(x);
  CHECK(code_of(x.error()) == errc::bad_input);
  return detail_of(x.error());
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + "1" + std::string(depth, ']');
}

} // namespace

TEST_CASE("json: the writer sets commas and closes what is open") {
  json::writer w;
  w.obj().key("id").str("u1").key("progress").num(0.5).key("spec").raw("{\"a\":[1]}");
  w.key("list").arr().num(std::int64_t{-1}).num(std::uint64_t{2}).boolean(true).null();
  w.obj().end().arr().end().end().key("last").boolean(false).end();
  CHECK(
    w.text()
    == R"({"id":"u1","progress":0.5,"spec":{"a":[1]},"list":[-1,2,true,null,{},[]],"last":false})");
}

TEST_CASE("json: the writer escapes what must be escaped") {
  CHECK(json::quoted("a\"b\\c/d") == R"("a\"b\\c/d")");
  CHECK(json::quoted("\n\r\t\b\f") == R"("\n\r\t\b\f")");
  CHECK(json::quoted(std::string_view{"\0\x1f\x7f", 3}) == "\"\\u0000\\u001f\x7f\"");
  CHECK(json::quoted("grün 漢 🙂") == "\"grün 漢 🙂\"");
}

TEST_CASE("json: bytes that are not UTF-8 become U+FFFD") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(json::quoted("a\x80z") == "\"a" + bad + "z\"");                      // lone tail
  CHECK(json::quoted("\xC3") == "\"" + bad + "\"");                          // cut short
  CHECK(json::quoted("\xC0\xAF") == "\"" + bad + bad + "\"");                // overlong
  CHECK(json::quoted("\xED\xA0\x80") == "\"" + bad + bad + bad + "\"");      // surrogate
  CHECK(json::quoted("\xF4\x90\x80\x80").find('\xF4') == std::string::npos); // above U+10FFFF
  CHECK(json::quoted("\xE2\x82\"") == "\"" + bad + bad + "\\\"\""); // the quote is not swallowed
}

TEST_CASE("json: numbers that JSON does not have become null") {
  CHECK(json::encode(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(json::encode(std::numeric_limits<double>::infinity()) == "null");
  CHECK(json::encode(-std::numeric_limits<double>::infinity()) == "null");
}

TEST_CASE("json: hard doubles read back as the same double") {
  for (const double d : {0.0, -0.0, 0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308,
                         123456789012345680000.0, 0x1p53, 0x1p63, 0x1p64, -0x1p63, 1e22, 1e23}) {
    const auto text = json::encode(d);
    CAPTURE(text);
    auto back = json::decode<double>(text);
    REQUIRE(back);
    CHECK(*back == d);
    CHECK(std::signbit(*back) == std::signbit(d));
  }
}

TEST_CASE("json: a struct of everything goes out and comes back") {
  outer x;
  x.count = std::numeric_limits<std::int64_t>::min();
  x.port = 65535;
  x.rate = 1e-9;
  x.on = true;
  x.paint = colour::green;
  x.parts = {{"a", 1}, {"b", std::nullopt}};
  x.labels = {{"k\"1", "v\n1"}, {"k2", ""}};
  x.rest.text = R"({"deep":[1,2.5,"x"]})";
  x.at = from_millis(1'795'002'545'120);
  x.wait = duration{250};
  x.id = *parse_uuid("0192f3a4-5b6c-7d8e-9f01-23456789abcd");
  const auto text = json::encode(x);
  auto back = json::decode<outer>(text);
  REQUIRE(back);
  CHECK(json::encode(*back) == text);
  CHECK(back->count == x.count);
  CHECK(back->parts.size() == 2);
  CHECK(back->parts[0].size == 1);
  CHECK_FALSE(back->parts[1].size);
  CHECK(back->labels == x.labels);
  CHECK(back->rest == x.rest);
  CHECK(back->at == x.at);
  CHECK(back->id == x.id);
}

TEST_CASE("json: unknown fields are skipped, absent ones keep their default (P16)") {
  auto x = json::decode<outer>(R"({"brandNew":{"a":[1]},"port":8080})");
  REQUIRE(x);
  CHECK(x->port == 8080);
  CHECK(x->count == 7);
}

TEST_CASE("json: an error names the place of the value") {
  CHECK(decode_error(R"({"count":"x"})") == "/count: expected integer, got string");
  CHECK(decode_error(R"({"count":1.5})") == "/count: expected integer, got number");
  CHECK(decode_error(R"({"port":70000})") == "/port: number out of range");
  CHECK(decode_error(R"({"port":-1})") == "/port: number out of range");
  CHECK(decode_error(R"({"paint":256})") == "/paint: number out of range");
  CHECK(decode_error(R"({"parts":[{"name":"a"},{"name":true}]})")
        == "/parts/1/name: expected string, got boolean");
  CHECK(decode_error(R"({"parts":{}})") == "/parts: expected array, got object");
  CHECK(decode_error(R"({"labels":[]})") == "/labels: expected object, got array");
  CHECK(decode_error(R"({"labels":{"k":null}})") == "/labels/k: expected string, got null");
  CHECK(decode_error(R"({"id":"nope"})") == "/id: expected a UUID");
  CHECK(decode_error("[]") == "expected an object");
}

TEST_CASE("json: a syntax error names line and column") {
  CHECK(mistake_in("{\"a\":1,\n \"b\" 2}") == "not JSON: 2:6: expected ':'");
  CHECK(mistake_in("[1,\n2,\n]") == "not JSON: 3:1: expected a value");
  CHECK(mistake_in("{a:1}") == "not JSON: 1:2: expected a name in quotes");
  CHECK(mistake_in("[1 2]") == "not JSON: 1:4: expected ',' or ']'");
  CHECK(mistake_in("{\"a\":1 \"b\":2}") == "not JSON: 1:8: expected ',' or '}'");
  CHECK(mistake_in("01") == "not JSON: 1:2: a number must not begin with zero");
  CHECK(mistake_in("\"a\nb\"") == "not JSON: 1:3: control character in a string");
  CHECK(mistake_in("\"\\x\"") == "not JSON: 1:3: unknown escape");
  CHECK(mistake_in("\"\\u12g4\"") == "not JSON: 1:6: expected four hex digits");
  CHECK(mistake_in("1 2") == "not JSON: 1:3: unexpected text after the value");
  CHECK(mistake_in("nul") == "not JSON: 1:4: the text ends too early");
  CHECK(mistake_in("[\"abc") == "not JSON: 1:6: the text ends too early");
  CHECK(mistake_in("") == "not JSON: 1:1: the text ends too early");
  CHECK(mistake_in("123456789012345678901234")
        == "not JSON: 1:1: the integer has more than 64 bits");
}

TEST_CASE("json: text that is not UTF-8 is refused") {
  CHECK_FALSE(mistake_in("\"a\x80\"").empty());
}

TEST_CASE("json: 64 levels are read, 65 are refused (S13)") {
  CHECK(json::document::parse(nested(64)));
  CHECK(json::decode<json::raw>(nested(64))->text == nested(64));
  CHECK(mistake_in(nested(65)) == "not JSON: 1:65: nested too deeply");
  CHECK(mistake_in(nested(100'000)) == "not JSON: 1:65: nested too deeply");
  CHECK(json::document::parse(nested(64))); // the parser that refused is as good as new
}

TEST_CASE("json: the cursor tells kinds apart and finds members") {
  auto parsed =
    json::document::parse(R"({"n":null,"u":18446744073709551615,"s":"a\u0000é","o":{"x":[1, 2]}})");
  REQUIRE(parsed);
  const auto root = parsed->root();
  CHECK(root.type() == json::cursor::kind::object);
  CHECK(root.find("n")->is_null());
  CHECK(root.find("u")->u64() == 18446744073709551615ULL);
  CHECK_FALSE(root.find("u")->i64());
  CHECK(root.find("s")->str() == std::string_view{"a\0é", 4});
  CHECK_FALSE(root.find("absent"));
  CHECK_FALSE(root.find("s")->find("x"));
  CHECK(root.find("o")->text() == R"({"x":[1,2]})");
  CHECK(root.find("o")->find("x")->path() == "/o/x");
  auto members = root.members();
  REQUIRE(members);
  REQUIRE(members->size() == 4);
  CHECK(members->front().first == "n");
  CHECK(members->back().first == "o");
}

TEST_CASE("json: documents live side by side, across threads and moves") {
  std::vector<json::document> kept;
  for (int i = 0; i < 40; ++i) {
    auto parsed =
      json::document::parse("{\"i\":" + std::to_string(i) + ",\"pad\":\""
                            + std::string(static_cast<std::size_t>(i) * 200, 'x') + "\"}");
    REQUIRE(parsed);
    kept.push_back(std::move(*parsed));
  }
  std::thread other{[&kept] {
    auto moved = std::move(kept.back());
    kept.pop_back();
    kept.front() = std::move(moved);
  }};
  other.join();
  CHECK(kept.front().root().find("i")->i64() == 39);
  for (std::size_t i = 1; i < kept.size(); ++i)
    CHECK(kept[i].root().find("i")->u64() == i);
}

TEST_CASE("json: plain integers are read without a parser, others are left to it") {
  CHECK(json::plain_integer("0") == 0);
  CHECK(json::plain_integer("-17") == -17);
  CHECK(json::plain_integer("999999999999999999") == 999999999999999999);
  for (const auto* text :
       {"", "-", "01", "-01", "1.0", "1e3", " 1", "1 ", "+1", "9999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(json::plain_integer(text));
  }
  CHECK(json::decode<int>(" 5 ") == 5);
  CHECK(json::decode<std::uint64_t>("18446744073709551615") == 18446744073709551615ULL);
  CHECK_FALSE(json::decode<std::uint8_t>("256"));
  CHECK_FALSE(json::decode<int>("01"));
}
