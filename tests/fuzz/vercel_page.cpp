#include "connectors/vercel.hpp"
#include "page.hpp"

using namespace sluice;

/// One line with the status; the rest is the body.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const vercel_connector vercel;
  auto rest = fuzz::text_of(data, size);
  const unit_scope scope{.installation = "inst",
                         .external_id = "team_a",
                         .resource_id = "prj_1",
                         .entity = "deployment",
                         .since = from_millis(1'794'000'000'000),
                         .base_url = "https://api.vercel.com"};
  http_response response;
  response.status = std::atoi(std::string{fuzz::next_line(rest).substr(0, 8)}.c_str());
  response.final_url = "https://api.vercel.com/v7/deployments";
  response.body = rest;
  fuzz::read_page(vercel, scope, response);
  fuzz::compare_with_dom(response.body, {.array = "deployments", .members = {"pagination"}});
  return 0;
}
