#include "rules/admission.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace sluice;

namespace {

run_id run(std::uint8_t n) {
  run_id id;
  id.value.bytes[15] = n;
  return id;
}

constexpr std::uint32_t own_max = 2;
constexpr std::uint32_t all_max = 4;

/// A run's claims follow from its number: no claim, a limit per key, one in all, or both.
struct kind_of_run {
  std::string key;
  std::vector<slot_claim> claims;
};

kind_of_run kind_of(std::uint8_t n) {
  kind_of_run k{std::string(1, static_cast<char>('a' + n % 3)), {}};
  const int shape = n / 3 % 4;
  if (shape != 0 && shape != 1) k.claims.push_back({"own", k.key, own_max});
  if (shape != 0 && shape != 2) k.claims.push_back({"all", "", all_max});
  return k;
}

/// The same promises, kept by looking at everything every time.
struct model {
  struct waiter {
    run_id id;
    kind_of_run kind;
    bool newcomer;
  };
  std::vector<waiter> waiting; // in arrival order
  std::map<run_id, kind_of_run> holding;
  std::map<run_id, kind_of_run> away;
  std::map<std::string, std::uint64_t> turns; // of keys that wait or waited
  std::uint64_t turn = 0;

  [[nodiscard]] std::uint32_t used(const slot_claim& c) const {
    std::uint32_t n = 0;
    for (const auto& [id, k] : holding)
      n += static_cast<std::uint32_t>(std::ranges::count(k.claims, c));
    return n;
  }
  [[nodiscard]] bool eligible(const waiter& w) const {
    return std::ranges::all_of(w.kind.claims, [&](const auto& c) { return used(c) < c.capacity; });
  }
  [[nodiscard]] bool is_waiting(run_id id) const {
    return std::ranges::any_of(waiting, [&](const auto& w) { return w.id == id; });
  }

  void line_up(run_id id, const kind_of_run& k, bool newcomer) {
    if (std::ranges::none_of(waiting, [&](const auto& w) { return w.kind.key == k.key; }))
      turns[k.key] = ++turn;
    waiting.push_back({id, k, newcomer});
  }
  void want(run_id id, const kind_of_run& k, bool newcomer) {
    if (is_waiting(id) || holding.contains(id)) return;
    away.erase(id);
    line_up(id, k, newcomer);
  }
  void release(run_id id) {
    std::erase_if(waiting, [&](const auto& w) { return w.id == id; });
    holding.erase(id);
    away.erase(id);
  }
  void give_back(run_id id) {
    if (auto node = holding.extract(id)) away.insert(std::move(node));
  }
  void return_to(run_id id) {
    if (auto node = away.extract(id)) line_up(id, node.mapped(), false);
  }
  void restore(run_id id, const kind_of_run& k) {
    if (holding.contains(id)) return;
    release(id);
    holding.emplace(id, k);
  }

  /// The next one: by turn of its key, then those who return, then by arrival.
  std::optional<run_id> grant_one() {
    const waiter* best = nullptr;
    for (const auto& w : waiting) {
      if (!eligible(w)) continue;
      if (!best
          || std::pair{turns[w.kind.key], w.newcomer}
               < std::pair{turns[best->kind.key], best->newcomer})
        best = &w;
    }
    if (!best) return {};
    const waiter chosen = *best;
    release(chosen.id);
    holding.emplace(chosen.id, chosen.kind);
    turns[chosen.kind.key] = ++turn;
    return chosen.id;
  }
};

enum class action : std::uint8_t { want, come_back, release, give_back, return_to, restore, grant };

struct move {
  action what;
  std::uint8_t who;
};

std::ostream& operator<<(std::ostream& out, const move& m) {
  return out << int(m.what) << ":" << int(m.who);
}

rc::Gen<std::vector<move>> moves() {
  using rc::gen::element;
  auto what = element(action::want, action::want, action::want, action::come_back,
                      action::come_back, action::release, action::release, action::give_back,
                      action::return_to, action::restore, action::grant);
  auto who = rc::gen::inRange<std::uint8_t>(0, 48);
  return rc::gen::scale(10, rc::gen::container<std::vector<move>>(
                              rc::gen::construct<move>(std::move(what), std::move(who))));
}

void apply(slot_book& book, const move& m) {
  const auto k = kind_of(m.who);
  switch (m.what) {
  case action::want:
    return book.want(run(m.who), k.claims, k.key);
  case action::come_back:
    return book.want(run(m.who), k.claims, k.key, queue_position::returning);
  case action::release:
    return book.release(run(m.who));
  case action::give_back:
    return book.give_back(run(m.who));
  case action::return_to:
    return void(book.return_to(run(m.who)));
  case action::restore:
    return book.restore(run(m.who), k.claims, k.key);
  case action::grant:
    return;
  }
}

void apply(model& m, const move& what) {
  const auto k = kind_of(what.who);
  switch (what.what) {
  case action::want:
    return m.want(run(what.who), k, true);
  case action::come_back:
    return m.want(run(what.who), k, false);
  case action::release:
    return m.release(run(what.who));
  case action::give_back:
    return m.give_back(run(what.who));
  case action::return_to:
    return m.return_to(run(what.who));
  case action::restore:
    return m.restore(run(what.who), k);
  case action::grant:
    return;
  }
}

} // namespace

TEST_CASE("admission: grants what a plain reading of the rules grants (P9)") {
  CHECK(rc::check([] {
    slot_book book;
    model plain;
    for (const auto& m : *moves()) {
      apply(book, m);
      apply(plain, m);
      if (m.what != action::grant) continue;
      std::vector<run_id> expected;
      while (auto id = plain.grant_one())
        expected.push_back(*id);
      RC_ASSERT(book.grant() == expected);
      RC_ASSERT(book.stats().waiting == plain.waiting.size());
      RC_ASSERT(book.stats().holding == plain.holding.size());
      RC_ASSERT(book.stats().away == plain.away.size());
    }
    for (std::uint8_t n = 0; n < 48; ++n)
      book.release(run(n));
    RC_ASSERT(book.usage().empty());
    RC_ASSERT(book.stats().keys == 0u);
  }));
}

TEST_CASE("admission: no capacity is exceeded by a grant (P9)") {
  CHECK(rc::check([] {
    slot_book book;
    for (const auto& m : *moves()) {
      if (m.what == action::restore) continue; // the one thing that may exceed it
      apply(book, m);
      (void)book.grant();
      for (const auto& u : book.usage())
        RC_ASSERT(u.used <= u.capacity);
    }
  }));
}

TEST_CASE("admission: runs of one key and kind are granted in arrival order (P9)") {
  CHECK(rc::check([] {
    slot_book book;
    std::map<std::string, std::vector<run_id>> arrived;
    std::vector<run_id> holding;
    std::uint8_t next = 0;
    for (auto n :
         *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::inRange<std::uint8_t>(0, 9))) {
      if (n < 5 && next < 250) {
        const std::string key(1, static_cast<char>('a' + n % 2));
        book.want(run(++next), {{"own", key, own_max}, {"all", "", 3}}, key);
        arrived[key].push_back(run(next));
      } else if (!holding.empty()) {
        book.release(holding.front());
        holding.erase(holding.begin());
      }
      for (auto id : book.grant()) {
        holding.push_back(id);
        const bool first_of_its_key = std::ranges::any_of(arrived, [&](auto& entry) {
          auto& line = entry.second;
          if (line.empty() || line.front() != id) return false;
          line.erase(line.begin());
          return true;
        });
        RC_ASSERT(first_of_its_key);
      }
    }
  }));
}

TEST_CASE("admission: between two grants of a key every key that could go is granted (P9, B22)") {
  CHECK(rc::check([] {
    // One slot, handed on; each key always has somebody waiting.
    const auto keys = *rc::gen::inRange<std::uint8_t>(2, 6);
    const auto backlogs =
      *rc::gen::container<std::vector<std::uint8_t>>(keys, rc::gen::inRange<std::uint8_t>(10, 40));
    slot_book book;
    std::map<run_id, std::uint8_t> key_of;
    std::uint8_t next = 0;
    for (std::uint8_t k = 0; k < keys; ++k) {
      for (std::uint8_t i = 0; i < backlogs[k]; ++i) {
        book.want(run(++next), {{"all", "", 1}}, std::to_string(k));
        key_of[run(next)] = k;
      }
    }
    std::map<std::uint8_t, int> since; // grants of others since this key's last one
    for (int i = 0; i < 10 * keys; ++i) {
      const auto granted = book.grant();
      RC_ASSERT(granted.size() == 1u);
      const auto k = key_of[granted.front()];
      if (since.contains(k)) RC_ASSERT(since[k] == keys - 1);
      for (auto& [other, count] : since)
        ++count;
      since[k] = 0;
      book.release(granted.front());
    }
  }));
}
