#include "config/listen.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

std::string problem_of(std::string_view text) {
  auto address = parse_listen(text);
  REQUIRE_FALSE(address);
  CHECK(code_of(address.error()) == errc::bad_input);
  return detail_of(address.error());
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

} // namespace

TEST_CASE("listen: loopback addresses are read") {
  CHECK(*parse_listen("127.0.0.1:8090") == listen_address{"127.0.0.1", 8090});
  CHECK(*parse_listen("127.9.9.9:1") == listen_address{"127.9.9.9", 1});
  CHECK(*parse_listen("localhost:0") == listen_address{"localhost", 0});
  CHECK(*parse_listen("[::1]:65535") == listen_address{"::1", 65535});
}

TEST_CASE("listen: everything else is refused and the sentence says why (S1)") {
  for (const auto* text : {"0.0.0.0:8090", "192.168.1.5:80", "example.com:80", "[::]:80",
                           "[::ffff:127.0.0.1]:80", "128.0.0.1:80", "127.0.0.1.example.com:80"}) {
    CAPTURE(text);
    CHECK(contains(problem_of(text), "must be a loopback address"));
    CHECK(contains(problem_of(text), text));
  }
}

TEST_CASE("listen: what is no address is refused") {
  CHECK(contains(problem_of(""), "such as 127.0.0.1:8090"));
  CHECK(contains(problem_of("8090"), "such as 127.0.0.1:8090"));
  CHECK(contains(problem_of(":8090"), "such as 127.0.0.1:8090"));
  CHECK(contains(problem_of("::1:8090"), "in brackets"));
  for (const auto* text : {"127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
                           "127.0.0.1:0x50", "127.0.0.1: 80"}) {
    CAPTURE(text);
    CHECK(contains(problem_of(text), "port between 0 and 65535"));
  }
}
