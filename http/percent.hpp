#pragma once

#include "base/percent.hpp"

namespace sluice::http {

// Older than `base/percent.hpp`, and still words of HTTP.
using sluice::is_url_text;
using sluice::percent_decode;
using sluice::percent_encode;
using sluice::plus;

} // namespace sluice::http
