#include "app/journal_command.hpp"

#include "app/node_command.hpp"
#include "app/output.hpp"
#include "base/json.hpp"
#include "config/load.hpp"
#include "config/units.hpp"
#include "storage/inspect.hpp"

#include <cstdio>
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

std::string to_json(const verify_report& r) {
  json::writer w;
  w.obj().key("records").num(r.records).key("batches").num(r.batches).key("runs").num(r.runs);
  w.key("liveRuns").num(r.live_runs).key("rows").num(r.rows).key("removed").num(r.removed);
  w.key("problems").num(r.problems).key("details");
  json::put(w, r.details);
  w.key("corruptRuns").arr();
  for (const auto& run : r.corrupt_runs)
    w.str(to_string(run));
  return w.end().end().take();
}

void show(const verify_report& r) {
  print_line(std::to_string(r.records) + " records in " + std::to_string(r.batches) + " batches, "
             + std::to_string(r.runs) + " runs, " + std::to_string(r.live_runs) + " unfinished");
  for (const auto& detail : r.details)
    print_line("  " + printable(detail));
  print_line(r.good() ? "the journal is sound" : std::to_string(r.problems) + " problems");
}

} // namespace

exit_code journal_stats_command(const journal_options& o) {
  return in_folder(o, [&](const std::string& folder) {
    const auto stats = journal_stats(folder);
    if (!stats) return fail(stats.error());
    if (o.json)
      print_line(to_json(*stats));
    else
      show(*stats);
    return exit_code::done;
  });
}

exit_code journal_verify_command(const journal_options& o) {
  return in_folder(o, [&](const std::string& folder) {
    const auto report = verify_journal(folder);
    if (!report) return fail(report.error());
    if (o.json)
      print_line(to_json(*report));
    else
      show(*report);
    return report->good() ? exit_code::done : exit_code::failed;
  });
}

exit_code journal_dump_command(const journal_options& o) {
  std::optional<run_id> run;
  if (!o.run.empty()) {
    const auto id = parse_uuid(o.run);
    if (!id) {
      complain("--run: \"" + o.run + "\" is no id of a run");
      return exit_code::wrong_usage;
    }
    run = run_id{*id};
  }
  return in_folder(o, [&](const std::string& folder) {
    auto print_record = [](std::string_view line) {
      return std::fwrite(line.data(), 1, line.size(), stdout) == line.size()
             && std::fputc('\n', stdout) != EOF;
    };
    if (auto e = dump_journal(folder, run, print_record)) return fail(e);
    return std::fflush(stdout) == 0 ? exit_code::done : exit_code::failed;
  });
}

} // namespace sluice
