#include "rules/admission.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace sluice;

namespace {

run_id run(std::uint64_t n) {
  run_id id;
  for (std::size_t i = 0; i < 8; ++i)
    id.value.bytes[15 - i] = static_cast<std::uint8_t>(n >> (8 * i));
  return id;
}

std::vector<run_id> runs(std::initializer_list<std::uint64_t> numbers) {
  std::vector<run_id> ids;
  for (auto n : numbers)
    ids.push_back(run(n));
  return ids;
}

/// The limits of an entity worker (B13): 5 per installation, 30 in all.
std::vector<slot_claim> unit_claims(const std::string& installation, std::uint32_t own = 5,
                                    std::uint32_t all = 30) {
  return {{"entity", installation, own}, {"entity-all", "", all}};
}

std::vector<slot_claim> one_of(std::uint32_t capacity) {
  return {{"all", "", capacity}};
}

} // namespace

TEST_CASE("admission: what needs no slot goes at once (P9)") {
  slot_book book;
  book.restore(run(9), one_of(1), "a");
  book.want(run(1), {}, "a");
  book.want(run(2), {}, "b");
  CHECK(book.grant() == runs({1, 2}));
  CHECK(book.grant().empty());
}

TEST_CASE("admission: what exceeds a limit waits in arrival order (P9)") {
  slot_book book;
  for (std::uint64_t n = 1; n <= 5; ++n)
    book.want(run(n), one_of(2), "a");
  CHECK(book.grant() == runs({1, 2}));
  CHECK(book.grant().empty());
  book.release(run(2));
  CHECK(book.grant() == runs({3}));
  book.release(run(1));
  book.release(run(3));
  CHECK(book.grant() == runs({4, 5}));
  CHECK(book.stats().holding == 2);
  CHECK(book.stats().waiting == 0);
}

TEST_CASE("admission: keys take turns (P9)") {
  slot_book book;
  book.restore(run(100), one_of(1), "z");
  for (std::uint64_t n = 1; n <= 3; ++n)
    book.want(run(n), one_of(1), "a");
  book.want(run(11), one_of(1), "b");
  book.want(run(12), one_of(1), "b");
  book.want(run(21), one_of(1), "c");

  std::vector<run_id> order;
  run_id holder = run(100);
  for (int i = 0; i < 6; ++i) {
    book.release(holder);
    auto next = book.grant();
    REQUIRE(next.size() == 1);
    holder = next.front();
    order.push_back(holder);
  }
  CHECK(order == runs({1, 11, 21, 2, 12, 3}));
}

TEST_CASE("admission: a key that comes back at once does not overtake (P9)") {
  slot_book book;
  book.restore(run(100), one_of(1), "a");
  book.want(run(11), one_of(1), "b");
  book.want(run(12), one_of(1), "b");
  book.want(run(1), one_of(1), "a");
  book.release(run(100));
  CHECK(book.grant() == runs({11}));
  book.release(run(11));
  CHECK(book.grant() == runs({1}));
  book.want(run(2), one_of(1), "a");
  book.release(run(1));
  CHECK(book.grant() == runs({12}));
}

TEST_CASE("admission: a tenant of 150 units beside five small ones (B22)") {
  slot_book book;
  for (std::uint64_t n = 0; n < 150; ++n)
    book.want(run(n), unit_claims("large"), "large");
  CHECK(book.grant().size() == 5);
  for (std::uint64_t small = 0; small < 5; ++small)
    book.want(run(1000 + small), unit_claims(std::to_string(small)), std::to_string(small));
  CHECK(book.grant() == runs({1000, 1001, 1002, 1003, 1004}));
  for (const auto& u : book.usage()) {
    if (u.key == "large") CHECK(u.used == 5);
  }
}

TEST_CASE("admission: a queue that its own limit holds up delays nobody (P9)") {
  // Two workflows of one key: the second orchestrator waits for the first, whose units go on.
  slot_book book;
  const std::vector<slot_claim> orchestrator{{"run", "i1", 1}, {"run-all", "", 10}};
  book.want(run(1), orchestrator, "i1");
  book.want(run(2), orchestrator, "i1");
  book.want(run(3), unit_claims("i1"), "i1");
  CHECK(book.grant() == runs({1, 3}));
  book.release(run(1));
  CHECK(book.grant() == runs({2}));
}

TEST_CASE("admission: who gave its slot back queues ahead of its key's newcomers (P9)") {
  slot_book book;
  book.want(run(1), one_of(1), "a");
  book.want(run(2), one_of(1), "a");
  book.want(run(3), one_of(1), "a");
  CHECK(book.grant() == runs({1}));
  book.give_back(run(1));
  CHECK(book.stats().away == 1);
  CHECK(book.grant() == runs({2}));
  CHECK(book.return_to(run(1)));
  CHECK(book.grant().empty());
  book.release(run(2));
  CHECK(book.grant() == runs({1}));
  book.release(run(1));
  CHECK(book.grant() == runs({3}));
}

TEST_CASE("admission: those who return keep their order, after a restart too (P9)") {
  slot_book book;
  book.restore(run(9), one_of(1), "a");
  book.want(run(1), one_of(1), "a");
  book.want(run(2), one_of(1), "a", queue_position::returning);
  book.want(run(3), one_of(1), "a", queue_position::returning);
  std::vector<run_id> order;
  run_id holder = run(9);
  for (int i = 0; i < 3; ++i) {
    book.release(holder);
    holder = book.grant().at(0);
    order.push_back(holder);
  }
  CHECK(order == runs({2, 3, 1}));
}

TEST_CASE("admission: a run that returns has no more turns than its key (P9)") {
  slot_book book;
  book.want(run(1), one_of(1), "a");
  CHECK(book.grant() == runs({1}));
  book.want(run(11), one_of(1), "b");
  book.give_back(run(1));
  CHECK(book.return_to(run(1)));
  CHECK(book.grant() == runs({11}));
}

TEST_CASE("admission: restored runs hold their slots above the capacity (P9)") {
  slot_book book;
  for (std::uint64_t n = 1; n <= 3; ++n)
    book.restore(run(n), one_of(2), "a");
  book.want(run(4), one_of(2), "a");
  CHECK(book.usage() == std::vector<slot_usage>{{"all", "", 2, 3}});
  book.release(run(1));
  CHECK(book.grant().empty());
  book.release(run(2));
  CHECK(book.grant() == runs({4}));
}

TEST_CASE("admission: a raised capacity lets the waiting go (P9)") {
  slot_book book;
  book.want(run(1), one_of(1), "a");
  book.want(run(2), one_of(1), "a");
  CHECK(book.grant() == runs({1}));
  book.want(run(3), one_of(3), "b");
  CHECK(book.grant() == runs({2, 3}));
}

TEST_CASE("admission: asking twice, leaving twice and strangers are no harm (P9)") {
  slot_book book;
  book.release(run(7));
  book.give_back(run(7));
  CHECK_FALSE(book.return_to(run(7)));
  book.want(run(1), one_of(1), "a");
  book.want(run(1), one_of(1), "a");
  book.give_back(run(1)); // waits, so it has nothing to give
  CHECK(book.grant() == runs({1}));
  book.want(run(1), one_of(1), "a");
  book.restore(run(1), one_of(1), "a");
  CHECK(book.return_to(run(1)));
  CHECK(book.holds(run(1)));
  CHECK(book.stats().holding == 1);
  CHECK(book.stats().waiting == 0);
  book.want(run(2), one_of(1), "a");
  CHECK(book.waits(run(2)));
  book.release(run(1));
  book.release(run(1));
  book.release(run(2));
  CHECK(book.grant().empty());
  CHECK(book.usage().empty());
}

TEST_CASE("admission: a slot that is claimed twice is taken once (P9)") {
  slot_book book;
  book.want(run(1), {{"all", "", 1}, {"all", "", 1}}, "a");
  CHECK(book.grant() == runs({1}));
  CHECK(book.usage() == std::vector<slot_usage>{{"all", "", 1, 1}});
}

TEST_CASE("admission: a free slot costs no look at all that wait (P9)") {
  // 100,000 runs of 1,000 keys; 30 slots in all, 5 per key.
  slot_book book;
  for (std::uint64_t n = 0; n < 100'000; ++n) {
    const auto key = std::to_string(n % 1000);
    book.want(run(n), unit_claims(key), key);
  }
  auto holding = book.grant();
  REQUIRE(holding.size() == 30);
  const auto before = book.stats().looks;
  std::size_t granted = 0;
  std::uint64_t most = 0;
  for (std::size_t at = 0; at < 20'000; ++at) {
    const auto looks = book.stats().looks;
    book.release(holding.at(at));
    for (auto id : book.grant()) {
      holding.push_back(id);
      ++granted;
    }
    most = std::max(most, book.stats().looks - looks);
  }
  CHECK(granted == 20'000);
  // The one that is granted, and at times a queue whose limit was full or whose turn had passed.
  CHECK(book.stats().looks - before <= 2 * granted);
  CHECK(most <= 10);
}
