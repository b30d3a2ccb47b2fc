#include "api/call.hpp"

#include "api/errors.hpp"
#include "base/log.hpp"

namespace sluice::api {

void call::answer(int status, std::string json) const {
  http::response r;
  r.status = status;
  r.body = std::move(json);
  send(std::move(r));
}

void call::answer_events(std::shared_ptr<http::live_body> body) const {
  http::response r;
  r.content_type = "text/event-stream";
  r.live = std::move(body);
  send(std::move(r));
}

void call::fail(const http::problem& p, std::vector<http::field> headers) const {
  auto r = http::to_response(p, correlation, at);
  r.headers = std::move(headers);
  send(std::move(r));
}

void call::fail(const error& e) const {
  const auto p = to_problem(e);
  if (p.status >= 500) {
    log::warning("a request failed", {{"method", request.method},
                                      {"path", request.target.substr(0, request.target.find('?'))},
                                      {"correlationId", correlation},
                                      {"error", to_text(e)}});
  }
  fail(p);
}

void call::send(http::response r) const {
  r.headers.push_back({"X-Correlation-Id", correlation});
  r.headers.push_back({"Cache-Control", "no-store"});
  reply(std::move(r));
}

run_id run_of(const call& c) {
  const auto id = parse_uuid(c.params.front());
  if (id) return run_id{*id};
  c.fail({404, "JOB_NOT_FOUND", "no such run"});
  return {};
}

} // namespace sluice::api
