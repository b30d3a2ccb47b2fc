#include "connectors/link_header.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace sluice;

namespace {

using links = std::vector<header_link>;

links read(std::string_view value) {
  auto found = parse_links(value);
  if (!found) FAIL(to_text(found.error()));
  return *found;
}

std::string refusal(std::string_view value) {
  auto found = parse_links(value);
  if (found) return "taken";
  CHECK(code_of(found.error()) == errc::bad_input);
  return detail_of(found.error());
}

std::string next_of(std::vector<std::string> values) {
  http_response r;
  for (auto& value : values)
    r.headers.push_back({.name = "lInK", .value = std::move(value)});
  auto found = find_link(r, "next");
  if (!found) return "refused";
  return found->value_or("none");
}

} // namespace

TEST_CASE("link_header: GitHub's own (B23)") {
  const auto found = read(R"(<https://api.github.com/repositories/1/pulls?page=3>; rel="prev", )"
                          R"(<https://api.github.com/repositories/1/pulls?page=5>; rel="next", )"
                          R"(<https://api.github.com/repositories/1/pulls?page=9>; rel="last")");
  REQUIRE(found.size() == 3);
  CHECK(found[1] == header_link{"https://api.github.com/repositories/1/pulls?page=5", "next"});
}

TEST_CASE("link_header: every form that RFC 8288 allows (B23)") {
  CHECK(next_of({"<a>;rel=next"}) == "a");
  CHECK(next_of({"<a> ; REL = \"Next\""}) == "a");
  CHECK(next_of({"<a>; rel=\"prev next\""}) == "a");
  CHECK(next_of({"<a>; title=\"a, <b>; rel=next\"; rel=prev, <c>; rel=next"}) == "c");
  CHECK(next_of({R"(<a>; title="a \" b, "; rel="next")"}) == "a");
  CHECK(next_of({"<a?x=1,2;3>; rel=next"}) == "a?x=1,2;3");
  CHECK(next_of({", ,<a>; rel=next,,"}) == "a");
  CHECK(next_of({"<a>;; rel=next;"}) == "a");
  CHECK(next_of({"<a>; crossorigin; rel=next"}) == "a");
  CHECK(next_of({"<>; rel=next"}).empty());
  CHECK(next_of({""}) == "none");
  CHECK(next_of({}) == "none");
  CHECK(next_of({"<a>; rel=last", "<b>; rel=next"}) == "b");
}

TEST_CASE("link_header: the first rel counts, and an anchor speaks of another page") {
  CHECK(next_of({"<a>; rel=prev; rel=next"}) == "none");
  CHECK(next_of({"<a>; rel=next; anchor=\"#x\""}) == "none");
  CHECK(next_of({"<a>; rel=nextish"}) == "none");
}

TEST_CASE("link_header: a damaged one is an error, not the end of a list (B28)") {
  for (const char* wrong :
       {"<a", "a; rel=next", "<a>; rel=\"next", "<a>; rel=\"next\\", "<a> b",
        "<a>; rel=next <b>; rel=last", "rel=next", "\x01", "<a>; rel=next; ü"}) {
    INFO(wrong);
    CHECK(refusal(wrong).starts_with("the Link header is broken"));
    CHECK(next_of({wrong}) == "refused");
  }
  CHECK(refusal(std::string(20'000, ',')).ends_with("too long"));
  std::string many;
  for (int i = 0; i < 65; ++i)
    many += "<a>,";
  CHECK(refusal(many).ends_with("too many links"));
}

TEST_CASE("link_header: two next pages that differ are an error (B28)") {
  CHECK(next_of({"<a>; rel=next, <b>; rel=next"}) == "refused");
  CHECK(next_of({"<a>; rel=next", "<b>; rel=next"}) == "refused");
  CHECK(next_of({"<a>; rel=next", "<a>; rel=next"}) == "a");
}

TEST_CASE("link_header: what was put in comes out, and nothing crashes it (B28)") {
  rc::check([](const std::string& text) { (void)parse_links(text); });
  rc::check([] {
    const auto piece = rc::gen::element<std::string>("<", ">", ";", ",", "=", "\"", "\\", " ",
                                                     "rel", "next", "a", "anchor");
    std::string text;
    for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece))
      text += part;
    const auto found = parse_links(text);
    if (!found) return;
    std::string again;
    for (const auto& link : *found)
      again +=
        "<" + link.target + ">; rel=\"" + link.rel + "\"" + (link.anchored ? ";anchor=x," : ",");
    // Quotes and backslashes of a rel would have to be escaped.
    if (again.find('\\') == again.npos && text.find('\\') == text.npos)
      RC_ASSERT(links{*parse_links(again)} == *found);
  });
}
