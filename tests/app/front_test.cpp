#include "app/front.hpp"

#include <catch2/catch.hpp>

#include <optional>

using namespace sluice;

namespace {

/// The status that `gate` or the API behind it answers.
int ask(const front& gate, std::string method, std::string target) {
  std::optional<http::response> said;
  http::request request;
  request.method = std::move(method);
  request.target = std::move(target);
  gate.take(std::move(request), http::responder{[&](auto answer) { said = std::move(answer); }});
  return said ? said->status : 0;
}

void api_says_299(const http::request&, const http::responder& reply) {
  http::response r;
  r.status = 299;
  reply(std::move(r));
}

} // namespace

TEST_CASE("front: alive and not ready while the node starts and stops (H22)") {
  front gate{engine_clock{}};
  CHECK(ask(gate, "GET", "/health/live") == 200);
  CHECK(ask(gate, "GET", "/health/ready") == 503);
  CHECK(ask(gate, "GET", "/runs") == 503);
  CHECK(ask(gate, "POST", "/runs") == 503);

  gate.open(api_says_299);
  CHECK(ask(gate, "GET", "/health/live") == 299);
  CHECK(ask(gate, "GET", "/health/ready") == 299);
  CHECK(ask(gate, "POST", "/runs") == 299);

  gate.close();
  CHECK(ask(gate, "GET", "/health/live") == 200);
  CHECK(ask(gate, "GET", "/health/ready?x=1") == 503);
  CHECK(ask(gate, "GET", "/runs") == 299);
  CHECK(ask(gate, "POST", "/runs") == 503);
}
