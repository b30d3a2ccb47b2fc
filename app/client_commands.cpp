#include "app/client_commands.hpp"

#include "app/answer.hpp"
#include "app/calls.hpp"
#include "app/output.hpp"
#include "http/percent.hpp"
#include "workflows/backfill.hpp"
#include "workflows/examples.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

namespace sluice {

namespace {

/// A JSON argument: itself, what is in `@file`, or what `-` has to say.
result<std::string> json_argument(const std::string& name, const std::string& given) {
  std::string text = given.empty() ? "null" : given;
  if (given == "-") {
    text.assign(std::istreambuf_iterator<char>{std::cin}, {});
  } else if (given.starts_with('@')) {
    std::ifstream in{given.substr(1), std::ios::binary};
    if (!in) return make_error(errc::bad_input, name + ": cannot read " + given.substr(1));
    text.assign(std::istreambuf_iterator<char>{in}, {});
  }
  auto parsed = json::document::parse(text);
  if (!parsed)
    return make_error(errc::bad_input, name + " is no JSON: " + detail_of(parsed.error()));
  return parsed->root().text();
}

std::string run_path(const std::string& id) {
  return "runs/" + http::percent_encode(id);
}

} // namespace

exit_code start_command(const start_options& o) {
  auto input = json_argument("--input", o.input);
  if (!input) return fail_call(input.error());
  json::writer body;
  body.obj().key("workflow").str(o.workflow).key("input").raw(*input);
  if (!o.key.empty()) body.key("idempotencyKey").str(o.key);
  auto ask = [&](client& node) { return node.post("runs", body.end().take()); };
  return o.follow ? call_and_follow(o.node, ask) : call(o.node, ask, show_accepted);
}

exit_code runs_command(const list_options& o) {
  auto path = "runs?limit=" + std::to_string(o.limit);
  if (!o.status.empty()) path += "&status=" + http::percent_encode(o.status);
  if (!o.workflow.empty()) path += "&workflow=" + http::percent_encode(o.workflow);
  if (!o.installation.empty()) path += "&installationId=" + http::percent_encode(o.installation);
  return call(
    o.node, [&](client& node) { return node.get(path); },
    [](const json::cursor& said) {
      text_table runs{{"RUN", "WORKFLOW", "STATUS", "INSTALLATION", "REQUESTED", "ENDED", "ERROR"}};
      for (const auto& run : items_of(said, "runs")) {
        const auto wrong = run.find("error");
        runs.add({text_of(run, "runId"), text_of(run, "workflow"), text_of(run, "status"),
                  text_of(run, "installationId"), text_of(run, "requestedAt"),
                  text_of(run, "endedAt"), wrong ? text_of(*wrong, "message") : ""});
      }
      print(runs.empty() ? "no runs\n" : runs.text());
      if (const auto next = text_of(said, "next"); !next.empty())
        print_line("there are more; --limit shows up to 500");
    });
}

exit_code run_command(const run_options& o) {
  return call(o.node, [&](client& node) { return node.get(run_path(o.run)); }, show_run);
}

exit_code cancel_command(const cancel_options& o) {
  if (o.run.empty() == o.installation.empty())
    return fail_call(make_error(errc::bad_input, "cancel: name a run or --installation"));
  json::writer body;
  body.obj();
  if (o.run.empty())
    body.key("installationId").str(o.installation);
  else
    body.key("runId").str(o.run);
  body.end();
  return call(
    o.node, [&](client& node) { return node.post("cancel", body.take()); },
    [](const json::cursor& said) {
      for (const auto& run : items_of(said, "cancelled"))
        print_line("cancelled " + printable(text_of(run)));
    });
}

exit_code resume_command(const run_options& o) {
  return call(
    o.node, [&](client& node) { return node.post(run_path(o.run) + "/resume", "{}"); },
    [](const json::cursor& said) {
      print_line(printable(text_of(said, "runId")) + " is " + painted(text_of(said, "status")));
    });
}

exit_code event_command(const event_options& o) {
  auto data = json_argument("--data", o.data);
  if (!data) return fail_call(data.error());
  json::writer body;
  body.obj().key("kind").str(o.kind).key("subject").str(o.subject).key("data").raw(*data);
  if (!o.key.empty()) body.key("idempotencyKey").str(o.key);
  body.end();
  return call(
    o.node, [&](client& node) { return node.post("events", body.take()); },
    [&](const json::cursor& said) {
      const bool known = text_of(said, "existing") == "true";
      print_line(printable(o.kind + " " + o.subject)
                 + (known ? " was there already" : " is in the journal"));
    });
}

exit_code actors_command(const client_options& o) {
  return call(
    o, [](client& node) { return node.get("actors"); },
    [](const json::cursor& said) {
      text_table actors{
        {"ID", "ACTOR", "LABEL", "MAILBOX", "HANDLED", "BUSY ms", "STATE", "WAITS FOR"}};
      for (const auto& card : items_of(said, "actors")) {
        const auto busy = card.find("busyUs");
        const auto us = busy ? busy->u64() : result<std::uint64_t>{std::uint64_t{0}};
        actors.add({text_of(card, "id"), text_of(card, "kind"), text_of(card, "label"),
                    text_of(card, "mailbox"), text_of(card, "handled"),
                    std::to_string(us ? *us / 1000 : 0), text_of(card, "state"),
                    text_of(card, "waitsFor")});
      }
      print(actors.text());
    });
}

exit_code workflows_command(const client_options& o) {
  catalog flows;
  add_examples(flows, {});
  add_backfill(flows, {});
  if (o.json) {
    print_line(json::encode(flows.names()));
    return exit_code::done;
  }
  for (const auto& name : flows.names())
    print_line(name);
  return exit_code::done;
}

} // namespace sluice
