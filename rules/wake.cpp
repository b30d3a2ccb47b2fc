#include "rules/wake.hpp"

namespace sluice {

timestamp cut_wait(timestamp since, timestamp until, timestamp now) noexcept {
  if (until == never || now >= since) return until;
  if (until <= since) return now;
  return now + (until - since);
}

} // namespace sluice
