#pragma once

#include "app/client.hpp"
#include "app/client_commands.hpp"
#include "app/exit_code.hpp"
#include "base/json.hpp"

#include <functional>
#include <string>

/// What the commands that ask a node share.
namespace sluice {

/// What the node refused as wrong is wrong usage; everything else is work that failed.
exit_code fail_call(const error& e);

using asking = std::function<result<std::string>(client&)>;

/// Asks once and shows the answer.
exit_code call(const client_options& o, const asking& ask,
               const std::function<void(const json::cursor&)>& show);

/// Asks for a run and follows it.
exit_code call_and_follow(const client_options& o, const asking& ask);

/// Shows the answer to a request for a run.
void show_accepted(const json::cursor& said);

} // namespace sluice
