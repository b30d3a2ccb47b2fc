#include "rules/delivery_queue.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

bool has_bit(const std::string& bitmap, std::uint32_t index) noexcept {
  const auto byte = index / 8;
  return byte < bitmap.size() && (static_cast<unsigned char>(bitmap[byte]) >> (index % 8) & 1U);
}

void set_bit(std::string& bitmap, std::uint32_t index) {
  const auto byte = index / 8;
  if (byte >= bitmap.size()) bitmap.resize(byte + 1);
  bitmap[byte] = static_cast<char>(static_cast<unsigned char>(bitmap[byte]) | 1U << (index % 8));
}

page_delivery& delivery_queue::add(std::uint64_t number, std::shared_ptr<page_parcels> page) {
  auto made = std::make_unique<page_delivery>();
  auto& p = *made;
  p.number = number;
  p.accepted = page->accepted;
  p.page = std::move(page);
  for (std::uint32_t i = 0; i < p.page->items.size(); ++i) {
    auto& body = p.page->items[i].body;
    if (has_bit(p.accepted, i)) std::string{}.swap(body);
    if (!body.empty()) ++p.open;
  }
  pages_[number] = std::move(made);
  if (!p.done()) waiting_.push(p.page->tenant, number);
  return p;
}

/// What was tried before goes first: it has waited longest.
std::optional<delivery_queue::item> delivery_queue::next(timestamp now) {
  for (auto* p : under_way_) {
    if (p->in_flight >= page_in_flight_) continue;
    if (auto first = p->retries.begin(); first != p->retries.end() && first->first <= now)
      return item{p, take_retry(*p, first)};
    if (auto index = take_new(*p)) return item{p, *index};
  }
  return begin_page();
}

std::optional<delivery_queue::item> delivery_queue::next_probe(timestamp now) {
  for (auto* p : under_way_)
    if (auto index = take_new(*p)) return item{p, *index};
  if (auto fresh = begin_page()) return fresh;
  page_delivery* of = nullptr;
  retry best;
  for (auto* p : under_way_) {
    const auto end = p->retries.upper_bound(now);
    for (auto r = p->retries.begin(); r != end; ++r) {
      if (of != nullptr && p->tries[r->second].failures >= of->tries[best->second].failures)
        continue;
      of = p;
      best = r;
    }
  }
  if (of == nullptr) return std::nullopt;
  return item{of, take_retry(*of, best)};
}

std::optional<delivery_queue::item> delivery_queue::begin_page() {
  if (waiting_.empty()) return std::nullopt;
  auto* p = pages_.at(waiting_.pop()).get();
  p->tries.resize(p->page->items.size());
  under_way_.push_back(p);
  return item{p, *take_new(*p)}; // a page that waits is not done
}

std::optional<std::uint32_t> delivery_queue::take_new(page_delivery& p) {
  const auto size = static_cast<std::uint32_t>(p.page->items.size());
  while (p.next < size && p.page->items[p.next].body.empty())
    ++p.next;
  if (p.next == size) return std::nullopt;
  return begin(p, p.next++);
}

std::uint32_t delivery_queue::take_retry(page_delivery& p, retry r) {
  const auto index = r->second;
  p.retries.erase(r);
  return begin(p, index);
}

std::uint32_t delivery_queue::begin(page_delivery& p, std::uint32_t index) {
  ++p.tries[index].sent;
  ++p.sent;
  ++p.in_flight;
  ++in_flight_;
  return index;
}

void delivery_queue::landed(page_delivery& p) {
  --p.in_flight;
  --in_flight_;
}

void delivery_queue::accepted(page_delivery& p, std::uint32_t index) {
  landed(p);
  set_bit(p.accepted, index);
  std::string{}.swap(p.page->items[index].body);
  --p.open;
  ++p.unmarked;
}

void delivery_queue::refused(page_delivery& p, refused_parcel why) {
  landed(p);
  p.refused.push_back(std::move(why));
  --p.open;
}

void delivery_queue::again(page_delivery& p, std::uint32_t index, timestamp at) {
  landed(p);
  p.retries.emplace(at, index);
}

void delivery_queue::remove(std::uint64_t number) {
  auto node = pages_.extract(number);
  if (node.empty()) return;
  in_flight_ -= node.mapped()->in_flight;
  if (std::erase(under_way_, node.mapped().get()) != 0 || node.mapped()->done()) return;
  (void)waiting_.take_if([number](std::uint64_t n) { return n == number; });
}

page_delivery* delivery_queue::find(std::uint64_t number) {
  auto found = pages_.find(number);
  return found == pages_.end() ? nullptr : found->second.get();
}

bool delivery_queue::ready(timestamp now) const {
  auto has_some = [now](const page_delivery* p) {
    const bool due = !p->retries.empty() && p->retries.begin()->first <= now;
    // What is neither under way nor waits for its next attempt was never tried.
    return due || p->open > p->in_flight + p->retries.size();
  };
  return !waiting_.empty() || std::ranges::any_of(under_way_, has_some);
}

timestamp delivery_queue::earliest_retry() const {
  timestamp earliest{};
  for (const auto* p : under_way_) {
    if (p->retries.empty()) continue;
    const auto at = p->retries.begin()->first;
    if (earliest == never || at < earliest) earliest = at;
  }
  return earliest;
}

} // namespace sluice
