#pragma once

#include "base/error.hpp"
#include "http/server.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace sluice::bench {

/// What the calls of `example.calls` prove.
struct ledger_verdict {
  std::uint64_t runs = 0;
  std::uint64_t calls = 0;
  std::uint64_t repeated = 0; ///< a step called again before any later one: had no result
  std::uint64_t lost = 0;     ///< a step called again after a later one: its result was lost
  std::uint64_t skipped = 0;  ///< a step whose call never came although a later one's did
  std::uint64_t twice = 0;    ///< called again without a kill in between
  std::uint64_t bad_keys = 0; ///< the same step with another key, or another step with the same
};

/// The receiver of `example.calls`: answers 200 and remembers each call in its order.
///
/// A run goes on to its next step only after the result of the one before is durable. So a call of
/// step k+1 is the acknowledgement of step k, seen from outside: step k must never come again.
class call_ledger {
public:
  static result<std::unique_ptr<call_ledger>> open();

  /// Where one life of the node calls: the path says which, however late a call arrives.
  [[nodiscard]] std::string url(std::uint32_t life) const;
  [[nodiscard]] ledger_verdict judge() const;

private:
  struct call {
    std::uint32_t step = 0;
    std::string key;
  };

  call_ledger() = default;
  void take(const http::request& request, const http::responder& answer);

  mutable std::mutex lock_;
  std::map<std::string, std::map<std::uint32_t, std::vector<call>>> calls_; ///< by run and life
  std::unique_ptr<http::server> server_;
};

} // namespace sluice::bench
