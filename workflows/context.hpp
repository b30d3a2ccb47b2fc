#pragma once

#include "messages/http.hpp"
#include "workflows/awaiters.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What a workflow sees: everything durable that it can do (P1 to P16). A workflow is a function
/// `task<Out> flow(context&, In)`; what it does outside of steps must not depend on anything but
/// its input and the results of its steps.
namespace sluice {

class context {
public:
  explicit context(machine& run) : run_{run} {}
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  /// Runs `work` until it succeeds once; its result is in the journal before this goes on (P1, P2).
  /// `work` takes nothing or a `const attempt&`, and returns a value, nothing, or a `task` of them.
  template <class F>
  auto step(std::string name, F work, const step_options& o = {}) {
    return awaited<step_operation<F>>{run_, step_operation<F>{std::move(name), std::move(work), o}};
  }

  /// Survives restarts; never wakes early (P4).
  auto sleep(std::string name, duration wait) {
    return awaited<sleep_operation>{run_, sleep_operation{std::move(name), wait}};
  }
  auto sleep(std::string name, timestamp until) {
    return awaited<sleep_operation>{run_, sleep_operation{std::move(name), until}};
  }

  /// The events appear in the log exactly once (P5).
  auto send(std::string name, std::vector<event_draft> events) {
    return awaited<send_operation>{run_, send_operation{std::move(name), std::move(events)}};
  }

  /// The first event of this kind and subject since the run began that no earlier wait of it took;
  /// nothing if none came in time (P6).
  auto wait(std::string name, std::string kind, std::string subject,
            std::optional<duration> timeout = {}) {
    return awaited<wait_operation>{
      run_, wait_operation{std::move(name), {std::move(kind), std::move(subject)}, timeout}};
  }

  /// A child run: its result, or `step_failed` with its error (P7).
  template <class Out, class In>
  auto invoke(std::string name, std::string workflow, const In& input) {
    return awaited<typed_invoke<Out>>{
      run_, typed_invoke<Out>{std::move(name), std::move(workflow), json::encode(input)}};
  }

  /// Several at once (P8).
  template <class... Ops>
  auto all(awaited<Ops>... ops) {
    return awaited_all<Ops...>{run_, std::move(ops)...};
  }
  template <class Op>
  auto all(std::vector<awaited<Op>> ops) {
    return awaited_list<Op>{run_, std::move(ops)};
  }

  /// The same, and a failure is a value, not an exception.
  template <class Op>
  auto all_settled(std::vector<awaited<Op>> ops) {
    return awaited_outcomes<Op>{run_, std::move(ops)};
  }

  /// The engine's time; only inside the work of a step.
  [[nodiscard]] timestamp clock() const noexcept { return run_.work_now(); }

  /// The time of the newest result that this workflow has seen: the same at every replay (P15).
  [[nodiscard]] timestamp now() const noexcept { return run_.logical_now(); }
  /// The same at every replay (P15).
  [[nodiscard]] std::uint64_t random() noexcept { return run_.draw("random"); }
  [[nodiscard]] uuid make_uuid() noexcept;

  /// Which side of a change this run takes: `newest` when it has not passed this place before the
  /// change was made, else what it took then (P16).
  auto version(std::string change, std::uint32_t newest) {
    return awaited_version{run_, std::move(change), newest};
  }

  /// One request; only inside the work of a step. Carries the run's trace context. Aborted when the
  /// run is cancelled.
  auto http(http_request request) {
    return awaited_outside<http_response>{run_, std::move(request)};
  }
  /// Leave to send one request; likewise only inside a step. What comes back as granted must end in
  /// `finished`.
  auto pass(pass_request what) { return awaited_outside<pass_answered>{run_, std::move(what)}; }
  void finished(request_finished what) { run_.tell_gates(std::move(what)); }
  /// Delivers a page of events to the gateway; likewise.
  auto deliver(std::shared_ptr<page_parcels> page) {
    return awaited_outside<page_delivered>{run_, std::move(page)};
  }
  /// What the store holds; likewise.
  auto read(load_marks what) { return awaited_outside<marks_loaded>{run_, what}; }
  auto read(load_table what) { return awaited_outside<table_page>{run_, std::move(what)}; }

  /// What the journal holds of this run, in parts; for `on_failure` (P13).
  auto recall(std::optional<std::uint32_t> after = {}) { return awaited_recall{run_, after}; }

  [[nodiscard]] const run_row& run() const noexcept { return run_.row(); }

private:
  machine& run_;
};

} // namespace sluice
