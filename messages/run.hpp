#pragma once

#include "base/json.hpp"
#include "base/time.hpp"
#include "messages/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// As users see it (spec/60-surface.md). The numbers are on disk.
enum class run_status : std::uint8_t {
  pending = 0, ///< waiting for a slot
  running = 1,
  recovering = 2, ///< after a restart, until its first step
  completed = 3,
  partial = 4,
  failed = 5,
  cancelled = 6,
  parked = 7, ///< not ended: a person must look, `reason` says why
};

[[nodiscard]] std::string_view to_string(run_status s) noexcept;
[[nodiscard]] std::optional<run_status> run_status_from_string(std::string_view name) noexcept;

/// Has the run ended for good? (A terminal run never changes, I22.)
[[nodiscard]] constexpr bool is_terminal(run_status s) noexcept {
  return s == run_status::completed || s == run_status::partial || s == run_status::failed
         || s == run_status::cancelled;
}

/// Why a run is on its way out. Set in the commit that stops its work, before `on_failure` (P13).
enum class ending : std::uint8_t { none = 0, failure = 1, time_out = 2, cancel = 3 };

[[nodiscard]] std::string_view to_string(ending e) noexcept;

/// An error as the journal keeps it: the same at every replay (F2).
struct failure {
  std::string code;    ///< name of an `errc`, or what the workflow says
  std::string message; ///< for people
  std::string step;    ///< the step that failed; empty: the workflow itself
  bool retriable = true;

  friend bool operator==(const failure&, const failure&) = default;
};

template <class Fields>
void describe(Fields& f, failure& x) {
  f("code", x.code);
  f("message", x.message);
  f("step", x.step);
  f("retriable", x.retriable);
}

/// The row of a run. Small, and written only when something in it changes.
struct run_row {
  run_id id;
  std::string workflow;
  std::uint32_t code_version = 0; ///< of the build that started it (P16)
  std::string tenant;
  std::string installation;
  run_status status = run_status::pending;
  std::string reason; ///< why parked
  ending why = ending::none;
  std::optional<failure> error;
  std::uint32_t crashes = 0;     ///< starts after a crash since the last committed result
  std::uint64_t crash_seq = 0;   ///< head of the log when `crashes` was raised
  run_id parent;                 ///< nil: none
  std::vector<std::string> keys; ///< one per concurrency limit and throttle of the workflow
  std::string correlation;
  std::string traceparent;
  std::string dedupe_key;
  timestamp requested_at{};
  timestamp started_at{}; ///< first step; `never` until then
  timestamp ended_at{};

  friend bool operator==(const run_row&, const run_row&) = default;
};

template <class Fields>
void describe(Fields& f, run_row& x) {
  f("id", x.id.value);
  f("workflow", x.workflow);
  f("codeVersion", x.code_version);
  f("tenant", x.tenant);
  f("installation", x.installation);
  f("status", x.status);
  f("reason", x.reason);
  f("why", x.why);
  f("error", x.error);
  f("crashes", x.crashes);
  f("crashSeq", x.crash_seq);
  f("parent", x.parent.value);
  f("keys", x.keys);
  f("correlation", x.correlation);
  f("traceparent", x.traceparent);
  f("dedupeKey", x.dedupe_key);
  f("requestedAt", x.requested_at);
  f("startedAt", x.started_at);
  f("endedAt", x.ended_at);
}

/// How a run ended: the data of its `run.ended` event.
struct run_outcome {
  run_status status = run_status::completed;
  json::raw result;
  std::optional<failure> error;
};

template <class Fields>
void describe(Fields& f, run_outcome& x) {
  f("status", x.status);
  f("result", x.result);
  f("error", x.error);
}

} // namespace sluice
