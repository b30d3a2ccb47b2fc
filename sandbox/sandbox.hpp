#pragma once

#include "http/exchange.hpp"
#include "sandbox/gateway.hpp"
#include "sandbox/options.hpp"
#include "sandbox/service.hpp"

#include <functional>
#include <string>

namespace sluice::sandbox {

/// GitHub under `/github`, Vercel under `/vercel`, the user's gateway under `/gateway`, and a
/// ledger of what they served and took. It has no socket and no clock of its own; safe from every
/// thread.
class sandbox {
public:
  sandbox(const options& o, std::function<timestamp()> now) : state_{o, std::move(now)} {}

  [[nodiscard]] http::response answer(const http::request& r);
  [[nodiscard]] const ledger& book() const noexcept { return state_.book; }
  /// One line: what came and went, and whether the books balance.
  [[nodiscard]] std::string summary() const;

private:
  [[nodiscard]] http::response answer_ledger(const service_request& r);

  service_state state_;
  gateway gateway_{state_};
};

} // namespace sluice::sandbox
