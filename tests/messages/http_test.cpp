#include "messages/http.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("http: a header is found in any case, the first one counts") {
  http_response r;
  r.headers = {{"Retry-After", "5"}, {"retry-after", "9"}, {"X", ""}};
  CHECK(r.header("retry-after") == "5");
  CHECK(r.header("RETRY-AFTER") == "5");
  CHECK(r.header("Retry") == "");
  CHECK(r.header("absent") == "");
}
