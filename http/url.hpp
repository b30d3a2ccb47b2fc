#pragma once

#include "base/url.hpp"

namespace sluice::http {

// Older than `base/url.hpp`, and still words of HTTP.
using sluice::is_loopback;
using sluice::origin;
using sluice::to_string;
using sluice::url;

} // namespace sluice::http
