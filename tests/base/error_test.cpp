#include "base/error.hpp"

#include <caf/sec.hpp>

#include <catch2/catch.hpp>

#include <fstream>
#include <set>
#include <string>
#include <vector>

using namespace sluice;

TEST_CASE("error: every code has a name of its own and is found by it") {
  std::set<std::string_view> names;
  for (auto n = static_cast<std::uint8_t>(errc::bad_input);
       n <= static_cast<std::uint8_t>(errc::internal); ++n) {
    const auto code = static_cast<errc>(n);
    CHECK(errc_from_string(to_string(code)) == code);
    names.insert(to_string(code));
  }
  CHECK(names.size() == static_cast<std::size_t>(errc::internal));
}

TEST_CASE("error: every code has a line in docs/errors.md, and no other stands there") {
  std::vector<std::string> documented;
  std::ifstream in{SLUICE_ERRORS_MD};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("| `")) documented.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  std::vector<std::string> known;
  for (auto n = static_cast<std::uint8_t>(errc::bad_input);
       n <= static_cast<std::uint8_t>(errc::internal); ++n)
    known.emplace_back(to_string(static_cast<errc>(n)));
  CHECK(documented == known);
}

TEST_CASE("error: a name that no build knows is internal") {
  CHECK(errc_from_string("") == errc::internal);
  CHECK(errc_from_string("made_up") == errc::internal);
}

TEST_CASE("error: code and sentence come back") {
  const auto e = make_error(errc::not_found, "no run 42");
  CHECK(code_of(e) == errc::not_found);
  CHECK(detail_of(e) == "no run 42");
  CHECK(to_text(e) == "not_found: no run 42");
}

TEST_CASE("error: an error without a sentence prints its name alone") {
  const error e{errc::locked};
  CHECK(to_text(e) == "locked");
  CHECK(detail_of(e).empty());
}

TEST_CASE("error: what CAF made itself is internal and keeps its name") {
  const auto e = caf::make_error(caf::sec::request_timeout, "late");
  CHECK(code_of(e) == errc::internal);
  CHECK(to_text(e) == "request_timeout: late");
}
