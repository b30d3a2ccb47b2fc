#include "tests/simulation/options.hpp"

#include "tests/simulation/dice.hpp"

namespace sluice::simulation {

options draw_options(std::uint64_t seed) {
  dice d{seed, 1};
  options o;
  o.seed = seed;
  o.hosts = static_cast<std::uint32_t>(d.between(1, 3));
  o.runs = static_cast<std::uint32_t>(d.between(1, 7));
  o.network_delay =
    d.pick(std::vector<duration>{duration{0}, duration{5}, duration{200}, duration{3000}});
  o.crash_within = d.pick(std::vector<std::uint64_t>{20, 60, 200, 600});
  o.crashes = static_cast<std::uint32_t>(d.between(1, 3));
  o.shapes.network = d.chance(75);
  o.shapes.events = d.chance(75);
  o.shapes.children = d.chance(60);
  o.shapes.parallel = d.chance(70);
  o.shapes.failures = d.chance(70);
  o.shapes.once = d.chance(40);
  o.shapes.acts_max = static_cast<std::uint32_t>(d.between(2, 7));
  if (d.chance(35))
    o.shapes.flow =
      d.pick(std::vector<std::string>{flow::limited, flow::throttled, flow::guarded, flow::apart});
  auto& f = o.faults;
  f.crash = d.chance(50);
  f.shutdown = d.chance(25);
  f.death = d.chance(10);
  f.unknown = d.chance(30);
  f.full = d.chance(25);
  f.slow = d.chance(25);
  f.reads = d.chance(25);
  f.corrupt = d.chance(15);
  f.jump = d.chance(15);
  f.poison = d.chance(15);
  f.cancel = d.chance(35);
  // Fewer than a run survives, but for the poisoned one.
  if (!f.poison && d.chance(30)) o.crashes = 7;
  if (d.chance(5)) {
    f = fault_mix{};
    f.drift = true;
    f.unknown = d.chance(50);
    f.slow = d.chance(50);
  }
  return o;
}

std::vector<std::string> names_of(const fault_mix& mix) {
  std::vector<std::string> names;
  for (const auto& [on, name] : {std::pair{mix.crash, "crash"},
                                 {mix.shutdown, "shutdown"},
                                 {mix.death, "death"},
                                 {mix.unknown, "unknown"},
                                 {mix.full, "full"},
                                 {mix.slow, "slow"},
                                 {mix.reads, "reads"},
                                 {mix.corrupt, "corrupt"},
                                 {mix.jump, "jump"},
                                 {mix.drift, "drift"},
                                 {mix.poison, "poison"},
                                 {mix.cancel, "cancel"}})
    if (on) names.emplace_back(name);
  return names;
}

std::string to_text(const options& o) {
  std::string text = "hosts=" + std::to_string(o.hosts) + " runs=" + std::to_string(o.runs)
                     + " networkMs=" + std::to_string(o.network_delay.count())
                     + " crashWithin=" + std::to_string(o.crash_within)
                     + " crashes=" + std::to_string(o.crashes) + " faults=";
  const auto names = names_of(o.faults);
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : ",") + names[i];
  return text + (names.empty() ? "none" : "");
}

} // namespace sluice::simulation
