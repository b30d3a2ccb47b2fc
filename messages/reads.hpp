#pragma once

#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/journal.hpp"
#include "messages/run.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Questions to the reader and what it answers: copies of what the store holds.
namespace sluice {

/// What recovery needs of a live run.
struct live_run {
  run_row row;
  timestamp wake_at{};
  std::uint64_t first_seq = 0;
  std::uint64_t last_result_seq = 0; ///< newest `done`, `failed` or marks record; 0: none
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  bool corrupt = false; ///< the row or a record fails its checksum: park it (F23)
};

struct live_run_page {
  std::vector<live_run> runs;
  std::optional<run_id> next; ///< pass as `after` for the rest
};

/// Where `load_steps` goes on: in run number `index` of the list, after `ordinal`.
struct step_position {
  std::size_t index = 0;
  std::optional<std::uint32_t> ordinal;
};

/// The memo of one run, or a part of it.
struct run_memo {
  run_id run;
  bool corrupt = false;              ///< a record of this run fails its checksum
  std::string detail;                ///< what is corrupt
  std::string input;                 ///< JSON; only in the part that begins the run
  std::vector<step_record> versions; ///< likewise
  std::vector<step_record> steps;    ///< by ordinal; the newest record of each
};

struct step_page {
  std::vector<run_memo> runs;
  std::optional<step_position> next;
};

struct due_run {
  run_id run;
  timestamp wake_at{};
};

struct run_filter {
  std::optional<run_status> status;
  std::string workflow;     ///< empty: any
  std::string installation; ///< empty: any
  timestamp ended_before{}; ///< `never`: any; else only runs that ended before then
};

struct run_page {
  std::vector<run_row> runs;  ///< newest first
  std::optional<run_id> next; ///< pass as `before` for the rest
};

struct table_row {
  std::string key;
  std::string value;
};

struct store_stats {
  std::uint64_t used_bytes = 0; ///< pages in use
  std::uint64_t file_bytes = 0; ///< of the file on disk
  std::uint64_t free_bytes = 0; ///< on the disk
  std::uint64_t head = 0;       ///< newest log position
  std::uint64_t trimmed = 0;    ///< log positions below this may be missing
  std::uint64_t log_records = 0;
  std::uint64_t runs = 0;
  std::uint64_t live_runs = 0;
  std::uint64_t reader_lag = 0;      ///< commits since the oldest open read began (F26)
  std::uint64_t corrupt_records = 0; ///< met since the store was opened (F23)
  std::uint64_t epoch = 0;
  std::string store_id;
};

// -- questions ----------------------------------------------------------------

struct load_runs {
  std::optional<run_id> after;
  std::size_t limit = 1000;
};

struct load_steps {
  std::vector<run_id> runs;
  step_position after;
  std::size_t limit = 4096;
};

struct load_marks {
  run_id run;
};

struct marks_loaded {
  std::vector<put_marks> marks;
};

struct find_due {
  timestamp until{};
  std::size_t limit = 1000;
};

struct due_runs {
  std::vector<due_run> runs;
};

struct find_events {
  std::vector<std::uint64_t> ids; ///< one per question, given back with its answer
  std::vector<std::string> kinds;
  std::vector<std::string> subjects;
  std::vector<std::uint64_t> after;
};

struct found_events {
  std::vector<std::uint64_t> ids;
  std::vector<std::optional<event>> events;
};

struct find_keys {
  std::vector<std::string> keys;
};

struct found_keys {
  std::vector<std::optional<event>> events; ///< in the order of the keys
};

struct find_run {
  run_id run;
};

/// The row of a run with its input and, when it ended, its outcome.
struct run_found {
  std::optional<run_row> row;
  std::string input = "null";
  std::optional<event> ended;
};

struct query_runs {
  std::string tenant;
  run_filter filter;
  std::optional<run_id> before;
  std::size_t limit = 50;
};

struct load_table {
  table where = table::limit;
  std::string prefix;
  std::string after;
  std::size_t limit = 1000;
};

struct table_page {
  std::vector<table_row> rows;
};

struct read_stats {};

} // namespace sluice
