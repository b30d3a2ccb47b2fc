#include "house.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

using namespace house;

namespace {

namespace fs = std::filesystem;

/// What a command prints; nothing when it fails.
std::optional<std::string> output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return {};
  std::string text;
  std::array<char, 4096> part{};
  while (const auto n = std::fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), n);
  return pclose(pipe) == 0 ? std::optional{text} : std::nullopt;
}

std::vector<std::string> all_paths(const fs::path& root) {
  std::vector<std::string> paths;
  for (fs::recursive_directory_iterator it{root}, end; it != end; ++it) {
    const auto path = it->path().lexically_relative(root).generic_string();
    const auto name = it->path().filename().string();
    if (path == "build" || path == "data" || name == ".git" || name == "node_modules")
      it.disable_recursion_pending();
    else if (it->is_regular_file())
      paths.push_back(path);
  }
  return paths;
}

/// What git tracks; in a tree without git, everything but build products.
std::vector<source_file> tracked_files() {
  const fs::path root{SLUICE_SOURCE_DIR};
  std::vector<std::string> paths;
  if (auto listed = output_of("git -C '" + root.string() + "' ls-files 2>/dev/null")) {
    std::istringstream lines{*listed};
    for (std::string path; std::getline(lines, path);)
      paths.push_back(path);
  }
  if (paths.empty()) paths = all_paths(root);
  std::vector<source_file> files;
  for (auto& path : paths) {
    std::ifstream in{root / path, std::ios::binary};
    if (!in) continue; // removed and not yet committed
    files.push_back({path, {std::istreambuf_iterator<char>{in}, {}}});
  }
  return files;
}

} // namespace

TEST_CASE("house: the tree keeps the rules of the house") {
  const auto files = tracked_files();
  REQUIRE(files.size() > 50);
  for (const auto& f : files)
    for (const auto& finding : check_file(f))
      FAIL_CHECK(finding);
  for (const auto& finding : check_readmes(files))
    FAIL_CHECK(finding);
}

TEST_CASE("house: the binary keeps them too") {
  const std::string binary{SLUICE_BINARY};
  if (binary.empty()) {
    WARN("this build has no binary");
    return;
  }
  const auto symbols = output_of(SLUICE_NM " -D --defined-only '" + binary + "'");
  REQUIRE(symbols);
  for (const auto& finding : check_symbols(*symbols))
    FAIL_CHECK(finding);
}
