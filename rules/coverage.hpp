#pragma once

#include "messages/backfill.hpp"

namespace sluice {

/// Does the backfill `under_way` do all that `wanted` asks for (B1)? Its window must reach as far
/// back and its types hold the wanted ones, where none named are the connector's defaults, which
/// are all that it has. A retry covers nothing: it is one unit.
[[nodiscard]] bool covers(const backfill_request& under_way, const backfill_request& wanted);

} // namespace sluice
