#pragma once

#include "http/exchange.hpp"
#include "http/target.hpp"
#include "sandbox/dice.hpp"
#include "sandbox/history.hpp"
#include "sandbox/ledger.hpp"
#include "sandbox/pages.hpp"
#include "sandbox/rates.hpp"
#include "sandbox/tokens.hpp"
#include "sandbox/world.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// What the three services share.
namespace sluice::sandbox {

struct service_state {
  service_state(const options& o, std::function<timestamp()> clock)
    : there{o}, past{there, clock()}, book{there, past}, keys{there}, budgets{there},
      lists{there, past}, chance{o.seed}, now{std::move(clock)} {}

  [[nodiscard]] const options& about() const noexcept { return there.about(); }

  const world there;
  history past;
  ledger book;
  tokens keys;
  rates budgets;
  pages lists;
  const dice chance;
  const std::function<timestamp()> now;
};

/// What may hit a request, for `dice`: each fault has its own chance.
enum class salt : std::uint8_t {
  provider_error = 16,
  truncated,
  html,
  secondary,
  gateway_error,
  gateway_busy,
  lost_answer
};

/// A request whose target was read. `path` is what follows the name of the service.
struct service_request {
  const http::request& whole;
  const http::target& asked;
  std::span<const std::string> path;
  std::string_view host; ///< of the Host header: links point there

  /// The value of a query parameter; empty when it is not there.
  [[nodiscard]] std::string_view query(std::string_view name) const noexcept;
};

[[nodiscard]] http::response json_answer(int status, std::string body);
[[nodiscard]] std::string_view bearer_of(const http::request& r) noexcept;
/// The number in `text`, between 1 and `highest`; `fallback` when it is none.
[[nodiscard]] std::uint32_t number_in(std::string_view text, std::uint32_t fallback,
                                      std::uint32_t highest) noexcept;

/// Requests that came although the budget was used up, or too early, are held against the asker.
void note_rate(ledger& book, const rate_answer& rate);

/// A page that is about to go out: the ledger is told and the list moves on, or a fault replaces
/// it. `page_key` tells what was asked for, `nth` how often it was before.
struct outgoing_page {
  list_ref list;
  std::uint64_t page_key = 0;
  std::uint32_t nth = 0;
  std::shared_ptr<const page> content;
};
[[nodiscard]] http::response send_page(service_state& s, const outgoing_page& p,
                                       http::response whole);

} // namespace sluice::sandbox
