#include "config/load.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <set>

using namespace sluice;

namespace {

const environment nothing_set = [](const std::string&) { return std::nullopt; };

/// The keys that sluice.toml sets, with their section, and whether a comment is near: on the line
/// above or above a group of settings.
struct written {
  std::vector<std::string> keys;
  std::vector<std::string> without_comment;
};

written read_toml_lines() {
  written found;
  std::string section;
  std::ifstream in{SLUICE_TOML};
  bool commented = false;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) {
      commented = false;
    } else if (line.front() == '#') {
      commented = true;
    } else if (line.front() == '[') {
      section = line.substr(1, line.size() - 2) + ".";
    } else {
      found.keys.push_back(section + line.substr(0, line.find(' ')));
      if (!commented) found.without_comment.push_back(found.keys.back());
    }
  }
  return found;
}

} // namespace

TEST_CASE("sluice.toml: every setting of the code stands in it, in the same order, and no other") {
  CHECK(read_toml_lines().keys == setting_keys());
}

TEST_CASE("sluice.toml: says of every setting what it is for") {
  CHECK(read_toml_lines().without_comment == std::vector<std::string>{});
}

TEST_CASE("sluice.toml: holds the defaults") {
  auto loaded = load_settings({.file = SLUICE_TOML, .env = nothing_set, .flags = {}});
  if (!loaded) FAIL(to_text(loaded.error()));
  CHECK(*loaded == settings{});
}

TEST_CASE("sluice.toml: every setting can be overridden by the environment under its name") {
  std::set<std::string> asked;
  const environment listener = [&asked](const std::string& name) {
    asked.insert(name);
    return std::nullopt;
  };
  REQUIRE(load_settings({.file = std::nullopt, .env = listener, .flags = {}}));
  const auto keys = setting_keys();
  CHECK(asked.size() == keys.size());
  for (const auto& key : keys)
    CHECK(asked.count(setting_variable(key)) == 1);
  CHECK(asked.count("SLUICE_LISTEN") == 1);
  CHECK(asked.count("SLUICE_DATA") == 1);
  CHECK(asked.count("SLUICE_STORAGE_BATCH_RECORDS_MAX") == 1);
}
