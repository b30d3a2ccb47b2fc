#include "app/calls.hpp"

#include "app/answer.hpp"
#include "app/follow.hpp"
#include "app/node_command.hpp"
#include "app/output.hpp"

namespace sluice {

namespace {

result<client> connect(const client_options& o) {
  return client::make(node_url(o.url, environment_variable("SLUICE_URL")));
}

} // namespace

exit_code fail_call(const error& e) {
  return fail(e, code_of(e) == errc::bad_input ? exit_code::wrong_usage : exit_code::failed);
}

exit_code call(const client_options& o, const asking& ask,
               const std::function<void(const json::cursor&)>& show) {
  auto node = connect(o);
  if (!node) return fail_call(node.error());
  auto said = ask(*node);
  if (!said) return fail_call(said.error());
  if (o.json) {
    print_line(*said);
    return exit_code::done;
  }
  auto answer = json::document::parse(*said);
  if (!answer) return fail_call(answer.error());
  show(answer->root());
  return exit_code::done;
}

exit_code call_and_follow(const client_options& o, const asking& ask) {
  auto node = connect(o);
  if (!node) return fail_call(node.error());
  auto said = ask(*node);
  if (!said) return fail_call(said.error());
  auto accepted = json::document::parse(*said);
  if (!accepted) return fail_call(accepted.error());
  return follow_run(*node, text_of(accepted->root(), "runId"), o.json);
}

void show_accepted(const json::cursor& said) {
  print_line("run          " + text_of(said, "runId"));
  print_line("status       " + painted(text_of(said, "status")));
  print_line("correlation  " + text_of(said, "correlationId"));
  if (text_of(said, "existing") == "true") print_line("was there already");
}

} // namespace sluice
