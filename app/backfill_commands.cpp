#include "app/backfill_commands.hpp"

#include "app/calls.hpp"
#include "http/percent.hpp"

namespace sluice {

exit_code trigger_command(const trigger_options& o) {
  json::writer body;
  body.obj().key("installationId").str(o.installation);
  body.key("provider").str(o.provider).key("orgId").str(o.org);
  if (o.depth) body.key("depth").num(std::uint64_t{*o.depth});
  if (!o.entities.empty()) {
    body.key("entityTypes");
    json::put(body, o.entities);
  }
  if (!o.on_conflict.empty()) body.key("onConflict").str(o.on_conflict);
  if (!o.key.empty()) body.key("idempotencyKey").str(o.key);
  body.end();
  auto ask = [&](client& node) { return node.post("trigger", body.take()); };
  return o.follow ? call_and_follow(o.node, ask) : call(o.node, ask, show_accepted);
}

exit_code retry_command(const retry_options& o) {
  const auto path =
    "runs/" + http::percent_encode(o.run) + "/units/" + http::percent_encode(o.unit) + "/retry";
  auto ask = [&](client& node) { return node.post(path, "{}"); };
  return o.follow ? call_and_follow(o.node, ask) : call(o.node, ask, show_accepted);
}

} // namespace sluice
