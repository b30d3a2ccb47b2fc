#include "rules/delivery_queue.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

constexpr timestamp begin = from_millis(1'000'000);

std::shared_ptr<page_parcels> page(const std::string& tenant, std::size_t events,
                                   std::string accepted = {}) {
  auto p = std::make_shared<page_parcels>();
  p->tenant = tenant;
  p->items.resize(events, {"id", "body"});
  p->accepted = std::move(accepted);
  return p;
}

/// Takes what may be sent now: how many of each page.
std::map<std::uint64_t, int> take_all(delivery_queue& q, std::uint32_t limit, timestamp now) {
  std::map<std::uint64_t, int> taken;
  while (q.in_flight() < limit) {
    auto next = q.next(now);
    if (!next) break;
    ++taken[next->page->number];
  }
  return taken;
}

using counts = std::map<std::uint64_t, int>;

} // namespace

TEST_CASE("delivery queue: few pages are under way, each with ten of its events (B15)") {
  delivery_queue q{10};
  for (std::uint64_t n = 1; n <= 9; ++n)
    q.add(n, page("a", 100));
  CHECK(take_all(q, 25, begin) == counts{{1, 10}, {2, 10}, {3, 5}});
  CHECK(q.waiting() == 6);
  for (std::uint32_t i = 0; i < 4; ++i)
    q.accepted(*q.find(1), i);
  CHECK(take_all(q, 25, begin) == counts{{1, 4}});
}

TEST_CASE("delivery queue: the page of another tenant is next, whoever came first (B22)") {
  delivery_queue q{10};
  for (std::uint64_t n = 1; n <= 5; ++n)
    q.add(n, page("large", 10));
  q.add(6, page("small", 1));
  CHECK(take_all(q, 21, begin) == counts{{1, 10}, {6, 1}, {2, 10}});
}

TEST_CASE("delivery queue: a page that only waits for its retries lets others pass (B15)") {
  delivery_queue q{10};
  q.add(1, page("a", 2));
  q.add(2, page("a", 5));
  CHECK(take_all(q, 2, begin) == counts{{1, 2}});
  q.again(*q.find(1), 0, begin + 10s);
  q.again(*q.find(1), 1, begin + 5s);
  CHECK(q.earliest_retry() == begin + 5s);
  CHECK(take_all(q, 3, begin) == counts{{2, 3}});
  CHECK(take_all(q, 5, begin + 5s) == counts{{1, 1}, {2, 1}});
  CHECK(q.find(1)->tries[1].sent == 2);
}

TEST_CASE("delivery queue: what was accepted before is skipped, and its body freed (B16)") {
  delivery_queue q{10};
  auto p = page("a", 10, std::string("\x0F", 1));
  auto& d = q.add(1, p);
  CHECK(d.open == 6);
  CHECK(p->items[3].body.empty());
  CHECK(q.next(begin)->index == 4);
  CHECK(q.add(2, page("a", 8, "\xFF")).done());
  CHECK(q.add(3, page("a", 0)).done());
}

TEST_CASE("delivery queue: the probe is an event that has not failed, if there is one (I15)") {
  delivery_queue q{10};
  q.add(1, page("a", 2));
  auto& p = *q.next(begin)->page;
  (void)q.next(begin);
  p.tries[0].failures = 5;
  p.tries[1].failures = 1;
  q.again(p, 0, begin);
  q.again(p, 1, begin);
  CHECK(q.next_probe(begin)->index == 1);
  CHECK(q.next_probe(begin)->index == 0);
  CHECK(!q.next_probe(begin));
  q.again(p, 0, begin);
  q.add(2, page("b", 1));
  CHECK(q.next_probe(begin)->page->number == 2);
}

TEST_CASE("delivery queue: ready says whether anything could be sent") {
  delivery_queue q{10};
  CHECK(!q.ready(begin));
  q.add(1, page("a", 2));
  CHECK(q.ready(begin));
  (void)q.next(begin);
  CHECK(q.ready(begin));
  (void)q.next(begin);
  CHECK(!q.ready(begin));
  q.again(*q.find(1), 0, begin + 1s);
  CHECK(!q.ready(begin));
  CHECK(q.ready(begin + 1s));
}

TEST_CASE("delivery queue: a page that is removed takes all that was its own along (P11)") {
  delivery_queue q{10};
  q.add(1, page("a", 20));
  q.add(2, page("a", 20));
  CHECK(take_all(q, 30, begin).size() == 2);
  q.add(3, page("a", 1));
  q.remove(1);
  q.remove(3);
  q.remove(99);
  CHECK(q.in_flight() == 10);
  CHECK(q.pages() == 1);
  CHECK(q.waiting() == 0);
  CHECK(take_all(q, 30, begin).empty());
}

TEST_CASE("delivery queue: bits are found where they were set") {
  std::string bits;
  for (std::uint32_t i : {0U, 7U, 8U, 70U})
    set_bit(bits, i);
  CHECK(bits == std::string("\x81\x01\0\0\0\0\0\0\x40", 9));
  CHECK(has_bit(bits, 70));
  CHECK(!has_bit(bits, 71));
  CHECK(!has_bit(bits, 7000));
}
