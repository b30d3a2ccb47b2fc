#include "messages/run.hpp"

namespace sluice {

std::string_view to_string(run_status s) noexcept {
  switch (s) {
  case run_status::pending:
    return "pending";
  case run_status::running:
    return "running";
  case run_status::recovering:
    return "recovering";
  case run_status::completed:
    return "completed";
  case run_status::partial:
    return "partial";
  case run_status::failed:
    return "failed";
  case run_status::cancelled:
    return "cancelled";
  case run_status::parked:
    return "parked";
  }
  return "unknown";
}

std::optional<run_status> run_status_from_string(std::string_view name) noexcept {
  for (auto s = run_status::pending; s <= run_status::parked;
       s = static_cast<run_status>(static_cast<std::uint8_t>(s) + 1)) {
    if (to_string(s) == name) return s;
  }
  return std::nullopt;
}

std::string_view to_string(ending e) noexcept {
  switch (e) {
  case ending::none:
    return "none";
  case ending::failure:
    return "failure";
  case ending::time_out:
    return "time_out";
  case ending::cancel:
    return "cancel";
  }
  return "unknown";
}

} // namespace sluice
