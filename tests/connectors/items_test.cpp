#include "base/json.hpp"
#include "connectors/items.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace sluice;

namespace {

std::vector<std::string> slices(const std::string& body, const page_shape& shape = {}) {
  auto page = read_items(body, shape);
  if (!page) FAIL(to_text(page.error()));
  std::vector<std::string> found;
  for (const auto& item : page->items)
    found.emplace_back(item.raw);
  return found;
}

std::string refusal(const std::string& body, const page_shape& shape = {}) {
  auto page = read_items(body, shape);
  if (page) return "taken";
  CHECK(code_of(page.error()) == errc::bad_input);
  return detail_of(page.error());
}

} // namespace

TEST_CASE("items: slices are the bytes of the body, and point into it (B26)") {
  const std::string body =
    " [ {\"a\" : 1 , \"b\":[ ]}\n,\t{}  , {\"c\":{\"d\":\"\\u00e9 é\"} }\r\n] \n";
  const auto page = read_items(body, {});
  REQUIRE(page);
  CHECK(
    slices(body)
    == std::vector<std::string>{"{\"a\" : 1 , \"b\":[ ]}", "{}", "{\"c\":{\"d\":\"\\u00e9 é\"} }"});
  for (const auto& item : page->items) {
    CHECK(item.raw.data() >= body.data());
    CHECK(item.raw.data() + item.raw.size() <= body.data() + body.size());
  }
  CHECK(slices("[]").empty());
}

TEST_CASE("items: with or without room behind the body (B26)") {
  std::string tight = R"([{"a":1},{"b":2}])";
  tight.shrink_to_fit();
  std::string roomy = tight;
  roomy.reserve(roomy.size() + 4096);
  CHECK(slices(tight) == slices(roomy));
}

TEST_CASE("items: numbers of any length and unicode pass byte for byte (B26)") {
  const std::string item =
    R"({"big":123456789012345678901234567890,"neg":-0,"exp":1.50E+400,)"
    R"("tiny":0.000000000000000000000000000000000001,"esc":"\ud83d\ude00\u0000\/",)"
    "\"raw\":\"😀 é \xe2\x80\xa8\",\"\\u006bey\":1e5}";
  CHECK(slices("[" + item + "]") == std::vector<std::string>{item});
}

TEST_CASE("items: the array may be a member of the document (B24)") {
  const page_shape shape{.array = "deployments", .members = {"pagination", "n", "s", "none"}};
  const std::string body =
    R"({"n": 12 ,"pagination" : {"next":5} , "deployments":[{"a":1}, {"a":2} ],"s":"x" ,"z":[1]})";
  const auto page = read_items(body, shape);
  REQUIRE(page);
  CHECK(page->items.size() == 2);
  CHECK(page->members
        == std::vector<std::string_view>{R"({"next":5})", "12", R"("x")", std::string_view{}});
  CHECK(refusal("[]", shape) == "expected an object with a list of items");
  CHECK(refusal("{}", shape) == "it has no 'deployments'");
  CHECK(refusal(R"({"deployments":null})", shape) == "'deployments' is not one array");
  CHECK(refusal(R"({"deployments":[],"deployments":[]})", shape)
        == "'deployments' is not one array");
  CHECK(refusal(R"({"deployments":[],"z":tru})", shape).starts_with("not JSON: "));
}

TEST_CASE("items: fields are read as they are (B28)") {
  const page_shape shape{.fields = {"s", "n", "b", "z", "o", "a", "none", "neg", "big"}};
  const std::string body =
    R"([{"o":{"s":"inner"},"s":"a\u00e9\n","n":42,"b":true,"z":null,"a":[1],)"
    R"("neg":-1,"big":18446744073709551616}])";
  const auto page = read_items(body, shape);
  REQUIRE(page);
  const auto& f = page->items.at(0).fields;
  using kind = field_value::kind;
  CHECK(f[0].text == "aé\n");
  CHECK(f[0].is_string());
  CHECK_FALSE(f[0].integer());
  CHECK(f[1].integer() == 42u);
  CHECK(f[2].is_true());
  CHECK(f[3].type == kind::null);
  CHECK_FALSE(f[3].is_set());
  CHECK(f[4].type == kind::object);
  CHECK(f[5].type == kind::array);
  CHECK(f[6].type == kind::absent);
  CHECK_FALSE(f[7].integer());
  CHECK_FALSE(f[8].integer());
  CHECK(f[8].text == "18446744073709551616");
}

TEST_CASE("items: of two members of one name the last one counts, as for most readers") {
  const auto page = read_items(R"([{"n":1,"n":2}])", {.fields = {"n"}});
  REQUIRE(page);
  CHECK(page->items[0].fields[0].integer() == 2u);
}

TEST_CASE("items: what simdjson would skip unread is read (B28)") {
  for (const char* wrong : {R"([{"a":tru}])",
                            R"([{"a":1 "b":2}])",
                            R"([{"a":01}])",
                            R"([{"a":"\x"}])",
                            R"([{"a":"\ud800"}])",
                            R"([{"a":1.}])",
                            R"([{"a":.5}])",
                            R"([{"a":+1}])",
                            R"([{"a":1e}])",
                            R"([{"a":-}])",
                            R"([{"a":nul}])",
                            R"([{"a":[1,]}])",
                            R"([{"a":[1 2]}])",
                            R"([{"a":1,}])",
                            R"([{"a"}])",
                            R"([{a:1}])",
                            R"([{"a":{"b":[{"c":falsey}]}}])",
                            R"([{"a":1}{"b":2}])",
                            R"([{"a":NaN}])",
                            R"([{"a":0x1}])",
                            R"([{"a":1}],)",
                            R"([{"a":1}]])",
                            R"([,{"a":1}])",
                            R"([{"a":'x'}])",
                            "[{\"a\":\"\x01\"}]",
                            "[{\"a\":\"\xff\"}]",
                            "\xef\xbb\xbf[]"}) {
    INFO(wrong);
    CHECK(refusal(wrong) != "taken");
  }
}

TEST_CASE("items: what is no list of objects is said so (B28)") {
  CHECK(refusal(R"({"message":"Not Found"})") == "expected an array of items");
  CHECK(refusal("null") == "expected an array of items");
  CHECK(refusal("[null]") == "item 0: expected an object");
  CHECK(refusal("[{},1]") == "item 1: expected an object");
  CHECK(refusal("") == "not JSON: the body is empty");
  CHECK(refusal("  ").starts_with("not JSON"));
  CHECK(refusal("<html>").starts_with("not JSON"));
  CHECK(refusal(R"([{"a":1},{"a":tru}])").starts_with("not JSON: item 1: "));
}

TEST_CASE("items: a page that is cut anywhere is no page (B28)") {
  const std::string body = R"([{"a":[1,{"b":"c\u00e9"}],"d":true},{"e":null,"f":-1.5e3}])";
  for (std::size_t n = 0; n < body.size(); ++n) {
    INFO(n);
    CHECK(refusal(body.substr(0, n)) != "taken");
  }
}

TEST_CASE("items: depth and count are limited (S13)") {
  const auto nested = [](std::size_t n) {
    return "[{\"a\":" + std::string(n, '[') + std::string(n, ']') + "}]";
  };
  // The page and the item are two levels.
  CHECK(refusal(nested(page_depth_max - 2)) == "taken");
  CHECK(refusal(nested(page_depth_max)) != "taken");
  CHECK(refusal(nested(5000)) != "taken");
  std::string many = "[{}";
  for (std::size_t i = 1; i <= page_items_max; ++i)
    many += ",{}";
  CHECK(refusal(many + "]").ends_with("more than 10000 items"));
}

TEST_CASE("items: a page of one megabyte and more is read (B28)") {
  const std::string item = R"({"a":")" + std::string(5'000'000, 'x') + R"("})";
  CHECK(slices("[" + item + "," + item + "]").size() == 2);
  CHECK(slices("[{}]").size() == 1);
}

TEST_CASE("items: takes what the DOM takes, and long numbers besides (B26, B28)") {
  rc::check([] {
    const auto piece = rc::gen::element<std::string>(
      "{", "}", "[", "]", ",", ":", "\"a\"", "\"\\u00e9\"", "\"\\ud800\"", "1", "-0", "1.5", "01",
      "true", "null", "nul", " ", "\n", "\"", "{\"a\":1}", "[1,2]", "\xc3\xa9", "\\");
    std::string inner;
    for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece))
      inner += part;
    const std::string body = "[{\"x\":" + inner + "}]";
    const bool taken = read_items(body, {}).engaged();
    const auto dom = json::document::parse(body);
    bool list = static_cast<bool>(dom);
    if (dom) {
      const auto items = dom->root().items();
      for (const auto& item : *items)
        list = list && item.type() == json::cursor::kind::object;
    }
    RC_ASSERT(taken == list);
  });
}
