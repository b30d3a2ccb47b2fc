#include "rules/circuit.hpp"

#include <algorithm>
#include <limits>

namespace sluice {

namespace {

using what = circuit_event::what;

std::uint32_t plus(std::uint32_t a, std::uint32_t b) noexcept {
  const auto room = std::numeric_limits<std::uint32_t>::max() - a;
  return a + std::min(b, room);
}

circuit_step open(circuit c, const circuit_config& config, timestamp now) noexcept {
  c = {circuit_status::open, 0, 0, now, 0};
  return {c, circuit_effect::schedule, now + config.reset_timeout};
}

circuit_step when_closed(circuit c, const circuit_event& e, const circuit_config& config,
                         timestamp now) noexcept {
  switch (e.kind) {
  case what::ask:
    return {c, circuit_effect::let_pass, now};
  case what::success:
    c.failures = 0;
    return {c};
  case what::failure:
    c.failures = plus(c.failures, e.count);
    if (c.failures < config.failure_threshold) return {c};
    return open(c, config, now);
  case what::not_sent:
  case what::timeout:
    return {c};
  }
  return {c};
}

circuit_step when_half_open(circuit c, const circuit_event& e, const circuit_config& config,
                            timestamp now) noexcept {
  if (e.kind == what::ask) {
    if (c.probe != 0) return {c, circuit_effect::refuse};
    c.probe = e.permit;
    return {c, circuit_effect::let_probe, now};
  }
  if (e.kind == what::timeout || e.permit == 0 || e.permit != c.probe) return {c};
  c.probe = 0;
  switch (e.kind) {
  case what::success:
    c.successes = plus(c.successes, 1);
    if (c.successes < config.success_threshold) return {c, circuit_effect::offer};
    return {{circuit_status::closed, 0, 0, c.opened_at, 0}, circuit_effect::release};
  case what::failure:
    return open(c, config, now);
  case what::not_sent:
    return {c, circuit_effect::offer};
  case what::ask:
  case what::timeout:
    break;
  }
  return {c};
}

circuit_step when_open(circuit c, const circuit_event& e, const circuit_config& config,
                       timestamp now) noexcept {
  const auto until = c.opened_at + config.reset_timeout;
  switch (e.kind) {
  case what::ask:
    if (now < until) return {c, circuit_effect::refuse, until};
    c.status = circuit_status::half_open;
    return when_half_open(c, e, config, now);
  case what::timeout:
    if (e.opened_at != c.opened_at || now < until) return {c};
    c.status = circuit_status::half_open;
    return {c, circuit_effect::offer};
  case what::success:
  case what::failure:
  case what::not_sent:
    return {c};
  }
  return {c};
}

} // namespace

circuit_step next(circuit c, const circuit_event& e, const circuit_config& config,
                  timestamp now) noexcept {
  switch (c.status) {
  case circuit_status::closed:
    return when_closed(c, e, config, now);
  case circuit_status::open:
    return when_open(c, e, config, now);
  case circuit_status::half_open:
    return when_half_open(c, e, config, now);
  }
  return {c};
}

circuit restored(circuit stored, timestamp now) noexcept {
  stored.probe = 0;
  stored.opened_at = std::min(stored.opened_at, now);
  return stored;
}

} // namespace sluice
