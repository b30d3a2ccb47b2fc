#include "base/log.hpp"
#include "base/mutant.hpp"
#include "tests/simulation/campaign.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>

using namespace sluice;
using namespace sluice::simulation;

namespace {

struct seed_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size()) return {};
  return n;
}

/// `7` or `1..1000`.
std::optional<seed_range> range(const std::string& text) {
  const auto dots = text.find("..");
  const auto first = number(std::string_view{text}.substr(0, dots));
  const auto last =
    dots == std::string::npos ? first : number(std::string_view{text}.substr(dots + 2));
  if (!first || !last || *first > *last) return {};
  return seed_range{*first, *last};
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Whole nodes in virtual time, with faults drawn from a seed", "sluice-sim"};
  campaign_options o;
  std::string seeds;
  std::string regressions;
  bool mutants = false;
  std::uint64_t minutes = 0;
  app.add_option("--seed", seeds, "One seed, or a range: 7, 1..1000");
  app.add_flag("--mutants", mutants, "Plant known bugs; each must be caught within 1000 seeds");
  app.add_option("--minutes", minutes, "Draw new seeds until this time is over");
  app.add_option("--regressions", regressions, "Run the seeds of this file first");
  app.add_flag("--verbose", o.verbose, "Print every seed, and the story of a failing one");
  app.add_flag("--json", o.json, "Print the summary as JSON");
  CLI11_PARSE(app, argc, argv);
  log::set_level(o.verbose ? log::level::warning : log::level::off);

  std::optional<seed_range> chosen;
  if (!seeds.empty()) {
    chosen = range(seeds);
    if (!chosen) {
      std::cerr << "--seed: expected a number or a range such as 1..1000, got '" << seeds << "'\n";
      return 2;
    }
  }
  if (!chosen && !mutants && minutes == 0 && regressions.empty()) {
    std::cout << app.help();
    return 0;
  }
  campaign c{o};
  bool passed = true;
  if (!regressions.empty()) passed = c.run_file(regressions);
  if (passed && mutants) passed = c.run_mutants();
  if (passed && chosen && !mutants) passed = c.run_range(chosen->first, chosen->last);
  if (passed && minutes != 0) passed = c.run_minutes(minutes, chosen ? chosen->last + 1 : 1);
  if (!mutants) c.print_summary();
  return passed ? 0 : 1;
}
