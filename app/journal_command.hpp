#pragma once

#include "app/exit_code.hpp"

#include <optional>
#include <string>

/// `sluice journal …`: looks into a data folder, also beside the node that writes there.
namespace sluice {

struct journal_options {
  std::optional<std::string> config;
  std::optional<std::string> data; ///< nothing: as the config says
  std::string run;                 ///< of `dump`; empty: everything
  bool json = false;
};

exit_code journal_stats_command(const journal_options& o);

/// A journal with a problem is work that failed.
exit_code journal_verify_command(const journal_options& o);

/// One JSON object per line.
exit_code journal_dump_command(const journal_options& o);

} // namespace sluice
