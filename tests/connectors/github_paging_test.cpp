#include "connectors/cursor.hpp"
#include "connectors/github.hpp"
#include "sample.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace sluice;
using namespace std::chrono_literals;
using namespace sample;

namespace {

const github_connector github;

std::size_t number(const url& at, std::string_view name, std::size_t otherwise) {
  const auto text = cursors::parameter(at.text(), name);
  return text ? std::stoul(std::string{*text}) : otherwise;
}

/// GitHub's list of pull requests, in the order of `items`, while others may change it.
struct provider {
  std::vector<std::string> items;
  std::string origin = "https://api.github.com";

  [[nodiscard]] http_response serve(const http_request& request) const {
    const auto at = *url::parse(request.url);
    const auto size = number(at, "per_page", 30);
    const auto page = number(at, "page", 1);
    std::vector<std::string> shown;
    for (std::size_t i = (page - 1) * size; i < std::min(page * size, items.size()); ++i)
      shown.push_back(items[i]);
    auto r = answer(200, array(shown), {}, request.url);
    if (page * size < items.size())
      r.headers.push_back(link(origin + "/repositories/4242/pulls?per_page=" + std::to_string(size)
                               + "&page=" + std::to_string(page + 1)));
    return r;
  }
};

std::vector<std::string> pulls(unsigned count) {
  std::vector<std::string> items;
  for (unsigned n = count; n > 0; --n)
    items.push_back(issue(n, now - (count - n) * 1s));
  return items;
}

struct reading {
  std::vector<std::string> ids;
  std::size_t pages = 0;
  std::string last; ///< the cursor of the last page
};

list_page read_page(const provider& p, const unit_scope& scope, const std::string& cursor,
                    std::vector<std::string>& ids) {
  const auto request = github.request(scope, cursor);
  REQUIRE(request);
  const auto response = p.serve(*request);
  auto page = parsed(github, scope, response, cursor);
  for (auto& item : page.items) {
    item.raw = {};
    ids.push_back(item.id);
  }
  return page;
}

/// Follows the list to its end; `between` runs after each page.
template <class Between>
reading read_all(provider& p, Between between) {
  const auto scope = github_scope("pull_request");
  reading all;
  for (std::optional<std::string> at = *github.first_cursor(scope); at; ++all.pages) {
    all.last = *at;
    auto page = read_page(p, scope, *at, all.ids);
    at = std::move(page.next);
    between(all.pages + 1);
  }
  return all;
}

reading read_all(provider& p) {
  return read_all(p, [](std::size_t) {});
}

std::size_t distinct(const std::vector<std::string>& ids) {
  return std::set<std::string>(ids.begin(), ids.end()).size();
}

bool has(const std::vector<std::string>& ids, unsigned number) {
  return std::ranges::find(ids, "backfill-inst_1-4242-pr-" + std::to_string(number)) != ids.end();
}

} // namespace

TEST_CASE("github paging: empty, full and overfull lists end where they end (B23)") {
  for (auto [count, pages] :
       {std::pair{0u, 1u}, {1u, 1u}, {99u, 1u}, {100u, 1u}, {101u, 2u}, {200u, 2u}, {201u, 3u}}) {
    INFO(count);
    provider p{pulls(count)};
    const auto all = read_all(p);
    CHECK(all.pages == pages);
    CHECK(all.ids.size() == count);
    CHECK(distinct(all.ids) == count);
  }
}

TEST_CASE("github paging: ten thousand and one by following Link (B23)") {
  provider p{pulls(10'001)};
  const auto all = read_all(p);
  CHECK(all.pages == 101);
  CHECK(distinct(all.ids) == 10'001);
}

TEST_CASE("github paging: an item inserted between pages costs a repeat, no loss (B25)") {
  provider p{pulls(250)};
  const auto all = read_all(p, [&](std::size_t page) {
    if (page == 1) p.items.insert(p.items.begin(), issue(251, now + 1s));
  });
  CHECK(all.ids.size() == 251);
  CHECK(distinct(all.ids) == 250);
  for (unsigned n = 1; n <= 250; ++n)
    CHECK(has(all.ids, n));
  // The new one is on page 1, which is read again at the end.
  std::vector<std::string> again;
  (void)read_page(p, github_scope("pull_request"), "/repos/octo/hello/pulls?per_page=100", again);
  CHECK(has(again, 251));
}

TEST_CASE("github paging: an item updated between pages is met when page 1 is read again (B25)") {
  provider p{pulls(250)};
  const auto all = read_all(p, [&](std::size_t page) {
    if (page != 1) return;
    // Number 20 lies on page 3 and moves to the front.
    std::erase(p.items, issue(20, now - 230s));
    p.items.insert(p.items.begin(), issue(20, now + 1s));
  });
  CHECK(distinct(all.ids) == 249);
  CHECK_FALSE(has(all.ids, 20));
  std::vector<std::string> again;
  const auto page = read_page(p, github_scope("pull_request"),
                              *github.first_cursor(github_scope("pull_request")), again);
  CHECK(has(again, 20));
  CHECK(page.items.front().time > now);
}

TEST_CASE("github paging: what a deletion let slip is met by a second pass (B25)") {
  provider p{pulls(250)};
  const auto all = read_all(p, [&](std::size_t page) {
    if (page == 1) p.items.erase(p.items.begin());
  });
  // Number 150 slipped from page 2 to page 1 after that was read.
  CHECK(distinct(all.ids) == 249);
  CHECK_FALSE(has(all.ids, 150));
  CHECK(has(read_all(p).ids, 150));
}

TEST_CASE("github paging: a list that moves shows other ids on its last page (B25)") {
  provider p{pulls(250)};
  const auto all = read_all(p);
  const std::vector<std::string> before{all.ids.end() - 50, all.ids.end()};
  const auto last_page = [&] {
    std::vector<std::string> ids;
    (void)read_page(p, github_scope("pull_request"), all.last, ids);
    return ids;
  };
  CHECK(last_page() == before);
  p.items.erase(p.items.begin());
  CHECK(last_page() != before);
  p.items.insert(p.items.begin(), 2, issue(300, now));
  CHECK(last_page() != before);
}

TEST_CASE("github paging: items of one time at a page edge all come (B25)") {
  provider p;
  for (unsigned n = 150; n > 0; --n)
    p.items.push_back(issue(n, now));
  CHECK(distinct(read_all(p).ids) == 150);
}

TEST_CASE("github paging: smaller pages go on at the same item (B23)") {
  provider p{pulls(250)};
  const auto scope = github_scope("pull_request");
  const std::string third = "/repositories/4242/pulls?per_page=100&page=3";
  std::vector<std::string> whole;
  (void)read_page(p, scope, third, whole);
  std::vector<std::string> parts;
  for (std::optional<std::string> at = github.smaller(*github.smaller(third)); at;)
    at = read_page(p, scope, *at, parts).next;
  CHECK(parts == whole);
}

TEST_CASE("github paging: a renamed repository goes on by its id (B23)") {
  provider p{pulls(150)};
  const auto scope = github_scope("pull_request");
  const auto first = *github.first_cursor(scope);
  CHECK(first.starts_with("/repos/octo/hello/"));
  // The client followed a 301 to the new place; the answer is that of the new URL.
  auto r = p.serve(*github.request(scope, first));
  r.final_url = "https://api.github.com/repositories/4242/pulls?per_page=100";
  const auto page = parsed(github, scope, r, first);
  CHECK(page.next == "/repositories/4242/pulls?per_page=100&page=2");
}

TEST_CASE("github paging: a next link to another host is refused (S12)") {
  provider p{pulls(150)};
  p.origin = "https://evil.example";
  const auto scope = github_scope("pull_request");
  const auto first = *github.first_cursor(scope);
  const auto text = problem(github, scope, p.serve(*github.request(scope, first)), first);
  CHECK(text.starts_with("refused a next page on another host, https://evil.example; "
                         "GET https://api.github.com/repos/octo/hello/pulls: 200: "));
  for (const char* hostile : {"https://evil.example/x", "http://api.github.com/x", "//evil.example",
                              "https://api.github.com@evil.example/x", "ftp://api.github.com/x"}) {
    INFO(hostile);
    CHECK_FALSE(github.request(scope, hostile));
    CHECK_FALSE(github.parse(scope, first, answer(200, "[]", {link(hostile)})));
  }
}

TEST_CASE("github paging: a next link to the same page or a broken one is an error (B28)") {
  const auto scope = github_scope("pull_request");
  const std::string cursor = "/repositories/4242/pulls?page=2";
  CHECK(problem(github, scope, answer(200, "[]", {link("https://api.github.com" + cursor)}), cursor)
          .starts_with("the link to the next page leads to this page; "));
  CHECK(problem(github, scope, answer(200, "[]", {{.name = "Link", .value = "<https://api"}}))
          .starts_with("the Link header is broken: "));
}
