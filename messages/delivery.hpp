#pragma once

#include "base/time.hpp"
#include "messages/ids.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// Pages of events on their way to the user's gateway.
namespace sluice {

/// One event. The body is the JSON of the POST up to and with `"receivedAt":`; the sender adds the
/// time of the dispatch and the closing brace. Without a body it only keeps a place: nothing is
/// sent.
struct parcel {
  std::string delivery_id;
  std::string body;
};

/// What one page has to send. The bodies are the gateway's: one is away while it is sent, freed as
/// soon as it was accepted, and there again when the event was refused.
struct page_parcels {
  run_id run;           ///< of the unit
  std::string tenant;   ///< whose turn it is (B22)
  std::string provider; ///< the gateway's path: /webhooks/{provider}
  std::string unit;
  std::uint32_t page = 0;
  std::vector<parcel> items;
  /// Which of them were accepted before: byte 0 bit 0 is item 0. Goes to the journal, with what is
  /// accepted now, as `put_marks{run, unit, page}`.
  std::string accepted;
};

/// An event that the gateway will not take (B18).
struct refused_parcel {
  std::uint32_t item = 0;
  std::uint32_t attempts = 0;
  int status = 0; ///< 0: no answer came
  std::string error;
};

/// Every item of the page is accepted or refused for good.
struct page_delivered {
  token id = 0;
  std::string accepted; ///< as `page_parcels::accepted`
  std::vector<refused_parcel> refused;
  std::uint64_t sent = 0; ///< POSTs, repeats included
};

/// What the page waits for: the gateway's circuit, or a `Retry-After`. For people (B31).
struct delivery_stalled {
  token id = 0;
  timestamp until{}; ///< `never`: it goes on
  std::string reason;
};

} // namespace sluice
