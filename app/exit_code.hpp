#pragma once

#include "base/error.hpp"

/// How a command ends, for scripts (spec/60-surface.md).
namespace sluice {

enum class exit_code : int {
  done = 0,
  failed = 1,       ///< the work failed
  wrong_usage = 2,  ///< command line or config
  cannot_start = 3, ///< folder locked, port in use, journal too new …
};

/// Writes each line of `message` to standard error as a line of its own that begins with the name
/// of the program.
void complain(std::string_view message);

/// Says what went wrong, in the sentence of `e`.
exit_code fail(const error& e, exit_code code = exit_code::failed);

} // namespace sluice
