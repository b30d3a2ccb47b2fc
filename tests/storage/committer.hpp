#pragma once

#include "messages/event.hpp"
#include "messages/journal.hpp"
#include "messages/run.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// What the program that is killed writes, and the test that kills it looks for.
namespace sluice::testing {

inline constexpr const char* marker = "marker";

inline run_id numbered_run() {
  run_id id;
  id.value.bytes[15] = 1;
  return id;
}

/// How many positions of the log batch `n` takes besides its own.
inline std::uint64_t logged_per_batch(std::uint64_t n) {
  return n == 1 ? 3 : 3 + n % 20;
}

/// A batch that leaves its number in every table (I6).
inline std::vector<op> numbered_ops(std::uint64_t n) {
  const auto run = numbered_run();
  const auto text = std::to_string(n);
  std::vector<op> ops;
  event e;
  e.run = run;
  e.kind = n == 1 ? event_kind::run_requested : "tick";
  e.subject = text;
  e.key = "key-" + text;
  ops.push_back(put_event{std::move(e)});
  run_row row;
  row.id = run;
  row.status = run_status::running;
  row.crash_seq = n;
  ops.push_back(put_run{std::move(row)});
  ops.push_back(set_wake{run, from_millis(static_cast<std::int64_t>(n))});
  ops.push_back(put_row{table::limit, marker, text});
  ops.push_back(put_row{table::dlq, "letter-" + text, text});
  ops.push_back(put_marks{run, "unit", 1, text});
  step_record s;
  s.run = run;
  s.ordinal = static_cast<std::uint32_t>(n);
  s.payload = text;
  ops.push_back(put_step{s});
  // More of the same ordinal: batches of many sizes.
  for (std::uint64_t i = 3; i < logged_per_batch(n); ++i)
    ops.push_back(put_step{s});
  return ops;
}

} // namespace sluice::testing
