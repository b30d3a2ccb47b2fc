#pragma once

#include "app/exit_code.hpp"

#include <cstdint>
#include <optional>
#include <string>

/// The commands that ask a running node. Each prints tables for people, or the node's own JSON with
/// `json`, and ends with the exit code for scripts.
namespace sluice {

struct client_options {
  std::optional<std::string> url; ///< nothing: SLUICE_URL, or the default
  bool json = false;
};

struct start_options {
  client_options node;
  std::string workflow;
  std::string input; ///< JSON, `@file`, `-` for standard input; empty: `null`
  std::string key;   ///< idempotency key; empty: none
  bool follow = false;
};

/// With `follow` prints each step as it is done, then the result; a run that does not complete is
/// work that failed.
exit_code start_command(const start_options& o);

struct list_options {
  client_options node;
  std::string status;
  std::string workflow;
  std::string installation;
  std::uint32_t limit = 50;
};

exit_code runs_command(const list_options& o);

struct run_options {
  client_options node;
  std::string run;
};

exit_code run_command(const run_options& o);
exit_code resume_command(const run_options& o);

struct cancel_options {
  client_options node;
  std::string run;
  std::string installation; ///< instead of a run: all its backfills
};

exit_code cancel_command(const cancel_options& o);

struct event_options {
  client_options node;
  std::string kind;
  std::string subject;
  std::string data; ///< as the input of a run
  std::string key;
};

exit_code event_command(const event_options& o);
exit_code actors_command(const client_options& o);

/// What this build can start; asks no node.
exit_code workflows_command(const client_options& o);

} // namespace sluice
