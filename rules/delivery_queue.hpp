#pragma once

#include "base/time.hpp"
#include "messages/delivery.hpp"
#include "rules/delivery.hpp"
#include "rules/turns.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// One page on its way. What it counts is kept by `delivery_queue`.
struct page_delivery {
  std::uint64_t number = 0;
  std::shared_ptr<page_parcels> page;
  std::vector<delivery_tries> tries; ///< one per item, from its first turn on
  std::string accepted;              ///< the bitmap
  std::vector<refused_parcel> refused;
  std::multimap<timestamp, std::uint32_t> retries; ///< items that wait for their next attempt
  std::uint32_t next = 0;                          ///< the first item that was never tried
  std::uint32_t open = 0;                          ///< items neither accepted nor refused
  std::uint32_t in_flight = 0;
  std::uint32_t unmarked = 0; ///< accepted, and not handed to the journal yet
  std::uint64_t sent = 0;

  [[nodiscard]] bool done() const noexcept { return open == 0; }
};

/// Which event is sent next (B15, B22). Few pages are under way at a time, each with a bounded
/// number of its events; the others wait, tenants in turn, the pages of a tenant in order. Another
/// page begins only when those under way have nothing more to send.
class delivery_queue {
public:
  explicit delivery_queue(std::uint32_t page_in_flight) : page_in_flight_{page_in_flight} {}

  /// A page with nothing to send is done at once.
  page_delivery& add(std::uint64_t number, std::shared_ptr<page_parcels> page);

  struct item {
    page_delivery* page = nullptr;
    std::uint32_t index = 0;
  };
  /// The next event to send, which is then under way; nothing when none may be sent now.
  [[nodiscard]] std::optional<item> next(timestamp now);

  /// The event to try a gateway with that was not well: one that has failed least.
  [[nodiscard]] std::optional<item> next_probe(timestamp now);
  /// Is there something that could be sent now, but for the bounds?
  [[nodiscard]] bool ready(timestamp now) const;

  /// How a POST ended. Each takes the event out of what is under way.
  void accepted(page_delivery& p, std::uint32_t index);
  void refused(page_delivery& p, refused_parcel why);
  void again(page_delivery& p, std::uint32_t index, timestamp at);

  /// The page is nobody's any more.
  void remove(std::uint64_t number);

  [[nodiscard]] page_delivery* find(std::uint64_t number);
  /// When the earliest event that waits for its next attempt is due; `never`: none waits.
  [[nodiscard]] timestamp earliest_retry() const;
  [[nodiscard]] std::size_t pages() const noexcept { return pages_.size(); }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::uint32_t in_flight() const noexcept { return in_flight_; }

  template <class F>
  void each(F look) {
    for (auto& [number, page] : pages_)
      look(*page);
  }

private:
  using retry = std::multimap<timestamp, std::uint32_t>::iterator;

  std::optional<std::uint32_t> take_new(page_delivery& p);
  std::uint32_t take_retry(page_delivery& p, retry r);
  std::uint32_t begin(page_delivery& p, std::uint32_t index);
  std::optional<item> begin_page();
  void landed(page_delivery& p);

  std::uint32_t page_in_flight_;
  std::uint32_t in_flight_ = 0;
  std::map<std::uint64_t, std::unique_ptr<page_delivery>> pages_;
  std::vector<page_delivery*> under_way_; ///< in the order in which they began
  turns<std::uint64_t> waiting_;
};

/// Bit `index` of a bitmap; byte 0 bit 0 is the first. Past its end nothing is set.
[[nodiscard]] bool has_bit(const std::string& bitmap, std::uint32_t index) noexcept;
void set_bit(std::string& bitmap, std::uint32_t index);

} // namespace sluice
