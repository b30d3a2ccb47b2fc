#include "base/log.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace sluice;

namespace {

const auto at = from_millis(1'795'002'545'120);

std::string text_line(std::string_view message, log::fields fs = {}) {
  return log::render(log::format::text, at, log::level::info, message, fs);
}

std::string json_line(std::string_view message, log::fields fs = {}) {
  return log::render(log::format::json, at, log::level::warning, message, fs);
}

/// A file of its own for one test, gone afterwards.
struct log_file {
  std::filesystem::path path =
    std::filesystem::temp_directory_path() / ("sluice-log-" + std::to_string(::getpid()));
  ~log_file() { std::filesystem::remove(path); }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream{path}.rdbuf();
    return all.str();
  }
};

} // namespace

TEST_CASE("log: a line of text") {
  CHECK(text_line("run ended", {{"run", "r-1"}, {"steps", 12}, {"why", "two words"}, {"ok", true}})
        == "2026-11-18T11:49:05.120Z info    run ended run=r-1 steps=12 why=\"two words\" ok=true");
  CHECK(text_line("two\nlines", {{"v", "a\nb"}, {"e", ""}})
        == R"(2026-11-18T11:49:05.120Z info    two lines v="a\nb" e="")");
}

TEST_CASE("log: a line of JSON") {
  CHECK(json_line("say \"hi\"", {{"n", -3}, {"d", duration{250}}, {"s", "5"}, {"b", false}})
        == R"({"at":"2026-11-18T11:49:05.120Z","level":"warning","message":"say \"hi\"",)"
           R"("n":-3,"d":250,"s":"5","b":false})");
  CHECK(json_line("x", {{"nan", std::numeric_limits<double>::quiet_NaN()}}).find(R"("nan":"nan")")
        != std::string::npos);
}

TEST_CASE("log: every part of a line is redacted (X9, S9)") {
  for (const auto& line :
       {text_line("with ghp_abcdef", {{"token", "t0psecret"}, {"url", "http://u:p@h/"}}),
        json_line("with ghp_abcdef", {{"token", "t0psecret"}, {"url", "http://u:p@h/"}}),
        json_line("x", {{"password", 1234567}})}) {
    CAPTURE(line);
    CHECK(line.find("[redacted]") != std::string::npos);
    CHECK(line.find("abcdef") == std::string::npos);
    CHECK(line.find("t0psecret") == std::string::npos);
    CHECK(line.find("u:p") == std::string::npos);
    CHECK(line.find("1234567") == std::string::npos);
  }
}

TEST_CASE("log: lines below the level are not written, the rest is there after stop") {
  const log_file file;
  log::start({.least = log::level::warning, .shape = log::format::text, .file = file.path});
  CHECK_FALSE(log::enabled(log::level::info));
  CHECK_FALSE(log::enabled(log::level::off));
  log::info("hidden");
  log::error("shown", {{"n", 1}});
  log::set_level(log::level::debug);
  log::debug("shown too");
  log::stop();
  log::set_level(log::level::info);
  const auto text = file.text();
  CHECK(text.find("hidden") == std::string::npos);
  CHECK(text.find("error   shown n=1\n") != std::string::npos);
  CHECK(text.find("debug   shown too\n") != std::string::npos);
}

TEST_CASE("log: of a flood each line is written or counted as dropped") {
  const log_file file;
  const auto dropped_before = log::dropped();
  log::start({.shape = log::format::json, .file = file.path});
  constexpr std::uint64_t each = 10'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (std::uint64_t i = 0; i < each; ++i)
        log::info("flood", {{"i", i}});
    });
  for (auto& t : threads)
    t.join();
  log::stop();
  const auto text = file.text();
  const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  CHECK(lines + (log::dropped() - dropped_before) == 4 * each);
}

TEST_CASE("log: a file that cannot be opened does not stop the node (X9)") {
  log::start({.shape = log::format::text, .file = "/proc/no/such/folder/log"});
  log::set_level(log::level::off);
  log::stop();
  log::set_level(log::level::info);
}
