#include "connectors/github.hpp"
#include "page.hpp"

using namespace sluice;

/// Two lines, entity type and status in one, then a `Link` header; the rest is the body.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const github_connector github;
  auto rest = fuzz::text_of(data, size);
  const auto head = fuzz::next_line(rest);
  unit_scope scope{.installation = "inst",
                   .resource_id = "42",
                   .resource_name = "octo/hello",
                   .entity = "issue",
                   .since = from_millis(1'794'000'000'000),
                   .base_url = "https://api.github.com"};
  if (head.starts_with('p')) scope.entity = "pull_request";
  if (head.starts_with('r')) scope.entity = "release";
  http_response response;
  response.status = head.size() > 1 ? std::atoi(std::string{head.substr(1, 8)}.c_str()) : 200;
  response.final_url = "https://api.github.com/repos/octo/hello/issues";
  response.headers = {{.name = "Link", .value = std::string{fuzz::next_line(rest)}}};
  response.body = rest;
  fuzz::read_page(github, scope, response);
  fuzz::compare_with_dom(response.body, {});
  return 0;
}
