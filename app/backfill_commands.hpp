#pragma once

#include "app/client_commands.hpp"
#include "app/exit_code.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The commands that ask a node for backfills.
namespace sluice {

struct trigger_options {
  client_options node;
  std::string installation;
  std::string provider;
  std::string org;
  std::optional<std::uint32_t> depth; ///< nothing: the node's default
  std::vector<std::string> entities;  ///< empty: all of the provider
  std::string on_conflict;            ///< empty: the node's default
  std::string key;                    ///< idempotency key; empty: none
  bool follow = false;
};

/// With `follow` until the end, `done` only when every unit succeeded (B2).
exit_code trigger_command(const trigger_options& o);

struct retry_options {
  client_options node;
  std::string run;
  std::string unit;
  bool follow = false;
};

/// Runs one unit of an ended backfill again (B10).
exit_code retry_command(const retry_options& o);

} // namespace sluice
