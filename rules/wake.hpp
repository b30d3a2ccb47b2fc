#pragma once

#include "base/time.hpp"

namespace sluice {

/// When a wait that was stored at `since` to last until `until` ends, read again at `now` after a
/// restart (I20). A clock that went forward is time that passed: the wait keeps its end. A clock
/// that went back would make the wait longer than it was meant to be: it is cut to its own
/// duration, from now. `never` stays `never`.
[[nodiscard]] timestamp cut_wait(timestamp since, timestamp until, timestamp now) noexcept;

} // namespace sluice
