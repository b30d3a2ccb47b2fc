#include "app/front.hpp"

#include "base/json.hpp"
#include "base/uuid.hpp"
#include "http/problem.hpp"

#include <chrono>
#include <utility>

namespace sluice {

namespace {

bool asks_for(const http::request& r, std::string_view path) {
  return std::string_view{r.target}.substr(0, r.target.find('?')) == path;
}

http::response json_answer(int status, std::string body) {
  http::response r;
  r.status = status;
  r.body = std::move(body);
  return r;
}

http::response not_ready(const std::string& why) {
  json::writer w;
  w.obj().key("status").str("unhealthy").key("components").obj();
  w.key("node").obj().key("status").str("unhealthy").key("detail").str(why).end();
  return json_answer(503, w.end().end().take());
}

} // namespace

void front::open(http::request_handler api) {
  api_ = std::move(api);
  phase_.store(phase::serving, std::memory_order_release);
}

void front::close() noexcept {
  phase_.store(phase::stopping, std::memory_order_release);
}

void front::take(http::request request, http::responder reply) const {
  const auto now = phase_.load(std::memory_order_acquire);
  const bool looks = request.method == "GET" || request.method == "HEAD";
  const std::string why = now == phase::starting ? "starting" : "stopping";
  if (looks && now != phase::serving) {
    if (asks_for(request, "/health/live"))
      return reply(json_answer(200, R"({"status":"healthy"})"));
    if (asks_for(request, "/health/ready")) return reply(not_ready(why));
  }
  if (now == phase::serving || (now == phase::stopping && looks))
    return api_(std::move(request), std::move(reply));
  const auto at = clock_.now(std::chrono::steady_clock::now());
  reply(http::to_response({503, "UNAVAILABLE", "the node is " + why, true},
                          to_string(uuid_source{}.next(at)), at));
}

} // namespace sluice
