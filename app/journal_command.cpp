#include "app/journal_command.hpp"

#include "app/node_command.hpp"
#include "app/output.hpp"
#include "base/json.hpp"
#include "config/load.hpp"
#include "config/units.hpp"
#include "storage/lmdb_store.hpp"

#include <functional>

namespace sluice {

namespace {

/// Calls `look` with the folder that the flags, the environment or the config name.
exit_code in_folder(const journal_options& o,
                    const std::function<exit_code(const std::string& folder)>& look) {
  auto loaded = load_settings({o.config, environment_variable, {std::nullopt, o.data}});
  if (!loaded) return fail(loaded.error(), exit_code::wrong_usage);
  return look(loaded->data);
}

std::string to_json(const store_stats& s) {
  json::writer w;
  w.obj().key("storeId").str(s.store_id).key("epoch").num(s.epoch).key("head").num(s.head);
  w.key("trimmed").num(s.trimmed).key("logRecords").num(s.log_records).key("runs").num(s.runs);
  w.key("liveRuns").num(s.live_runs).key("usedBytes").num(s.used_bytes);
  w.key("fileBytes").num(s.file_bytes).key("freeBytes").num(s.free_bytes);
  return w.key("readerLag").num(s.reader_lag).end().take();
}

void show(const store_stats& s) {
  text_table t{{"JOURNAL", s.store_id}};
  t.add({"runs", std::to_string(s.runs)});
  t.add({"unfinished runs", std::to_string(s.live_runs)});
  t.add({"log records", std::to_string(s.log_records)});
  t.add({"newest position", std::to_string(s.head)});
  t.add({"starts of a node", std::to_string(s.epoch)});
  t.add({"bytes in use", std::to_string(s.used_bytes)});
  t.add({"file", size_text(s.file_bytes)});
  t.add({"free on disk", size_text(s.free_bytes >> 20 << 20)});
  print(t.text());
}

} // namespace

exit_code journal_stats_command(const journal_options& o) {
  return in_folder(o, [&](const std::string& folder) {
    lmdb_options options;
    options.path = folder;
    options.read_only = true;
    lmdb_store disk{options};
    if (auto grant = disk.open(); !grant) return fail(grant.error());
    const auto stats = disk.stats();
    if (o.json)
      print_line(to_json(stats));
    else
      show(stats);
    return exit_code::done;
  });
}

} // namespace sluice
