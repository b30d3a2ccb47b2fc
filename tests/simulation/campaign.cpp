#include "tests/simulation/campaign.hpp"

#include "base/json.hpp"
#include "tests/simulation/simulation.hpp"

#include <cstdio>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <utility>

namespace sluice::simulation {

namespace {

constexpr std::uint64_t mutant_seeds_max = 1000;

void print_failure(const seed_report& r) {
  std::cout << "seed " << r.seed << " FAILED\n  invariant " << r.broken->invariant << ": "
            << r.broken->text << "\n  drawn: " << r.drawn << "\n";
  for (const auto& p : r.programs)
    std::cout << "  program: " << p << "\n";
  for (const auto& line : r.story)
    std::cout << "  " << line << "\n";
  std::cout << "  again: sluice-sim --seed " << r.seed << " --verbose" << std::endl;
}

} // namespace

campaign::campaign(const campaign_options& o)
  : options_{o}, began_{std::chrono::steady_clock::now()} {}

bool campaign::run_one(std::uint64_t seed) {
  const auto report = run_seed(seed, options_.verbose);
  total_.add(report.counts);
  if (report.broken) {
    print_failure(report);
    return false;
  }
  if (options_.verbose) {
    std::cout << "seed " << seed << " passed, trace " << std::hex << report.trace << std::dec
              << ", " << report.counts.messages << " messages, " << report.drawn << "\n";
    for (const auto& line : report.story)
      std::cout << "  " << line << "\n";
  }
  return true;
}

bool campaign::run_range(std::uint64_t first, std::uint64_t last) {
  for (auto seed = first; seed <= last; ++seed)
    if (!run_one(seed)) return false;
  return true;
}

bool campaign::run_file(const std::string& path) {
  std::ifstream in{path};
  if (!in) {
    std::cerr << "cannot read " << path << "\n";
    return false;
  }
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    if (!run_one(std::stoull(line))) return false;
  }
  return true;
}

bool campaign::run_minutes(std::uint64_t minutes, std::uint64_t first) {
  const auto end = began_ + std::chrono::minutes{minutes};
  for (auto seed = first; std::chrono::steady_clock::now() < end; ++seed)
    if (!run_one(seed)) return false;
  return true;
}

bool campaign::hunt(mutant m, const char* name) {
  planted_mutant = m;
  for (std::uint64_t seed = 1; seed <= mutant_seeds_max; ++seed) {
    const auto report = run_seed(seed);
    if (!report.broken) continue;
    planted_mutant = mutant::none;
    std::cout << std::left << std::setw(28) << name << "caught by seed " << std::setw(5) << seed
              << report.broken->invariant << ": " << report.broken->text << std::endl;
    return true;
  }
  planted_mutant = mutant::none;
  std::cout << std::left << std::setw(28) << name << "SURVIVED " << mutant_seeds_max << " seeds"
            << std::endl;
  return false;
}

bool campaign::run_mutants() {
  bool all = true;
  for (const auto& [m, name] : {std::pair{mutant::ack_before_commit, "ack before commit"},
                                {mutant::resend_without_probe, "resend without probe"},
                                {mutant::crash_not_counted, "crash not counted"},
                                {mutant::timers_in_memory, "timers only in memory"},
                                {mutant::recovery_stops_at_bad_run, "recovery stops at bad run"},
                                {mutant::key_contains_attempt, "key contains attempt"}})
    all = hunt(m, name) && all;
  return all;
}

void campaign::print_summary() const {
  const auto real =
    std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  const auto hours = std::chrono::duration<double, std::ratio<3600>>(total_.virtual_time).count();
  const auto rate = static_cast<double>(total_.seeds) / std::max(real, 1e-9);
  if (options_.json) {
    json::writer w;
    w.obj().key("seeds").num(total_.seeds).key("messages").num(total_.messages);
    w.key("commits").num(total_.commits).key("boots").num(total_.boots);
    w.key("runs").num(total_.runs).key("virtualHours").num(hours);
    w.key("realSeconds").num(real).key("seedsPerSecond").num(rate).key("faults").obj();
    for (const auto& [name, count] : total_.faults)
      w.key(name).num(count);
    std::cout << w.end().end().text() << "\n";
    return;
  }
  std::cout << std::fixed << std::setprecision(1) << total_.seeds << " seeds, " << total_.runs
            << " runs, " << total_.messages << " messages, " << total_.commits << " commits, "
            << total_.boots << " boots, " << hours << " virtual hours in " << real << " s (" << rate
            << " seeds/s)\nfaults:";
  for (const auto& [name, count] : total_.faults)
    std::cout << " " << name << "=" << count;
  std::cout << std::endl;
}

} // namespace sluice::simulation
