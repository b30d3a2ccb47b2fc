#include "rules/run_status.hpp"

namespace sluice {

bool may_follow(run_status from, run_status to) noexcept {
  switch (from) {
  case run_status::pending:
    return true;
  case run_status::running:
  case run_status::recovering:
    return to != run_status::pending;
  case run_status::parked:
    return to != run_status::completed && to != run_status::partial;
  case run_status::completed:
  case run_status::partial:
  case run_status::failed:
  case run_status::cancelled:
    return false;
  }
  return false;
}

} // namespace sluice
