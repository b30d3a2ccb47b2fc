#include "rules/window.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <deque>
#include <vector>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

constexpr timestamp t0 = from_millis(1'767'225'600'123);

/// The most that any window of this length has in the provider's own log.
std::uint32_t densest(std::vector<timestamp> log, duration length) {
  std::sort(log.begin(), log.end());
  std::uint32_t most = 0;
  std::size_t first = 0;
  for (std::size_t last = 0; last < log.size(); ++last) {
    while (log[last] - log[first] >= length)
      ++first;
    most = std::max(most, static_cast<std::uint32_t>(last - first + 1));
  }
  return most;
}

/// One request: reserved, sent some time later, finished some time after that.
struct flight {
  timestamp arrives{};
  timestamp ends{};
};

} // namespace

TEST_CASE("window: no window of the provider's log has more than the limit, also across crashes "
          "(B14, H7, I14)") {
  CHECK(rc::check("window", [] {
    const window_config config{*rc::gen::inRange(1u, 40u), duration{*rc::gen::inRange(1, 20'000)},
                               75min};
    const auto history =
      *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0u, 1'000'000u));
    window w;
    window stored; // what a crash leaves: the newest that was written
    std::uint32_t unused = 0;
    std::vector<timestamp> log;
    std::vector<flight> open;
    auto now = t0;
    for (const auto draw : history) {
      if (draw % 7 == 0)
        now += duration{draw / 8 % static_cast<std::uint32_t>(config.length.count())} / 4;
      std::erase_if(open, [&](const flight& f) {
        if (f.ends > now) return false;
        w = finish(w, 1, config, f.ends);
        return true;
      });
      switch (draw % 32) {
      case 0: // the process dies; what was under way may have arrived or will have by now
        for (const auto& f : open)
          log.push_back(std::min(f.arrives, now));
        open.clear();
        w = restored(stored, config, now);
        unused = 0;
        break;
      case 1: // nothing went out after all
        if (unused != 0) w = give_back(w, std::exchange(unused, 0));
        break;
      case 2: // written without need
        stored = w;
        break;
      default: {
        if (unused == 0) {
          auto answer = reserve(w, 1, 1 + draw / 64 % 9, config, now);
          RC_ASSERT(answer.granted == 0u || answer.at == now);
          RC_ASSERT(answer.granted != 0u || answer.at > now);
          w = answer.next;
          unused = answer.granted;
          if (unused == 0 && draw % 3 != 0) now = answer.at; // comes back exactly when told
          if (unused != 0) stored = w;
        }
        const auto takes = draw % 5 == 0 ? duration{draw / 16 % 1000} : 0ms;
        for (; unused != 0 && draw % 11 != 0; --unused)
          open.push_back({now + takes / 2, now + takes});
      }
      }
      for (auto& f : open)
        if (f.arrives <= now && f.arrives != never) {
          log.push_back(f.arrives);
          f.arrives = never;
        }
      std::erase(log, never);
    }
    RC_ASSERT(densest(log, config.length) <= config.limit);
  }));
}

TEST_CASE("window: at least 95 % of the limit is used while there is work (B14)") {
  CHECK(rc::check("use", [] {
    const window_config config{*rc::gen::inRange(1u, 5000u),
                               duration{*rc::gen::inRange(60'000, 7'200'000)}, 75min};
    // So many at a time, each taking up to 5 s of a window of a minute and more.
    const auto together = *rc::gen::inRange(1u, 50u);
    const auto takes = duration{*rc::gen::inRange(0, 200)};
    window w;
    auto now = t0 + duration{*rc::gen::inRange(0, 1'000'000)};
    const auto begin = now;
    constexpr int windows = 5;
    const auto end = begin + windows * config.length;
    std::uint64_t sent = 0;
    std::uint64_t possible = 0;
    while (now < end) {
      auto answer = reserve(w, 1, together, config, now);
      w = answer.next;
      if (answer.granted == 0) {
        now = answer.at;
        continue;
      }
      sent += answer.granted;
      now += takes;
      w = finish(w, answer.granted, config, now);
    }
    // Where the requests themselves are slower than the limit, they are what limits.
    possible = std::uint64_t{config.limit} * windows;
    if (takes.count() > 0)
      possible = std::min<std::uint64_t>(possible, static_cast<std::uint64_t>((end - begin) / takes)
                                                     * together);
    RC_ASSERT(sent * 100 >= possible * 95);
  }));
}
