#pragma once

#include "sandbox/world.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sluice::sandbox {

/// Who fetched which pages, and in which order they began. Safe from every thread.
class fetch_log {
public:
  struct of_page {
    std::uint32_t asked = 0;
    std::uint32_t whole = 0; ///< times that it went out as it should
  };
  struct of_list {
    std::uint64_t fetches = 0; ///< of whole pages
    std::uint64_t distinct = 0;
    std::unordered_map<std::uint64_t, of_page> pages; ///< by a hash of what was asked for
  };
  struct of_connection {
    std::optional<std::int64_t> since_ms; ///< the earliest that a request named
    bool asked = false;                   ///< the gateway was asked about it
    bool fetched = false;
  };
  struct first_fetch {
    connection_ref connection;
    std::int64_t at_ms = 0;
  };
  struct snapshot {
    std::map<list_ref, of_list> lists;
    std::map<connection_ref, of_connection> connections;
    std::vector<first_fetch> order;
  };

  void asked_about(connection_ref c);
  /// A page is asked for. How often it was before.
  std::uint32_t asked_for(list_ref l, std::uint64_t page, std::optional<std::int64_t> since_ms,
                          timestamp now);
  /// It went out whole. How many pages of the list did, this one included.
  std::uint64_t went_out(list_ref l, std::uint64_t page);

  [[nodiscard]] snapshot all() const;
  void clear();

private:
  mutable std::mutex mutex_;
  snapshot log_;
};

} // namespace sluice::sandbox
