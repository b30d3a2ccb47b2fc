#pragma once

#include "base/boxed.hpp"
#include "base/time.hpp"
#include "messages/event.hpp"
#include "messages/journal.hpp"
#include "messages/run.hpp"
#include "rules/backoff.hpp"
#include "rules/retry.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class machine;

/// One try of a step's work, as the work sees it.
class attempt {
public:
  attempt(const machine& run, std::uint32_t ordinal, std::string_view step, std::uint32_t number)
    : run_{run}, ordinal_{ordinal}, step_{step}, number_{number} {}

  /// 0 for the first try, 1 for the first retry …
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] std::string_view step() const noexcept { return step_; }
  /// The same for every attempt of this step in this run, also after a crash; never the same for
  /// another step or run (I9). Send it along with whatever has an effect outside.
  [[nodiscard]] std::string idempotency_key() const;

private:
  const machine& run_;
  std::uint32_t ordinal_;
  std::string_view step_;
  std::uint32_t number_;
};

struct step_options {
  std::optional<backoff_config> retry; ///< none: the workflow's
  /// False: the journal notes the start first, and a step that is found started without result
  /// after a crash is not repeated but parked for a decision (4.7).
  bool repeatable = true;
};

/// An event that a workflow sends.
struct event_draft {
  std::string kind;
  std::string subject;
  std::string data = "null"; ///< JSON text
};

/// One ask of a run: a step, a sleep, a send, a wait or an invocation. Lives in the coroutine that
/// awaits it; the machine drives it from its memo or by doing the work to its end.
class operation {
public:
  enum class phase : std::uint8_t {
    unasked,
    loading,  ///< the part of the memo that holds it is on its way
    held,     ///< would begin its work, but the crash count or a drain comes first
    starting, ///< the start marker is being committed
    working,
    saving,   ///< the result is being committed
    pausing,  ///< the wait is being committed
    waiting,  ///< for its time, its event or its child
    queueing, ///< woke, waits for its slot
    asking,   ///< the time is over: a last look for an event in time
    settled,
  };

  operation(step_kind kind, std::string name) : kind_{kind}, name_{std::move(name)} {}
  operation(operation&&) = default;
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;
  operation& operator=(operation&&) = delete;
  virtual ~operation() = default;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] step_kind kind() const noexcept { return kind_; }

protected:
  friend class machine;

  /// Begins one attempt of the work; ends in `machine::work_done` or `machine::work_failed`.
  virtual void start_work(machine&, const attempt&) {}
  /// Of a step: how it was asked for.
  [[nodiscard]] virtual const step_options* options() const noexcept { return nullptr; }

  step_kind kind_;
  phase phase_ = phase::unasked;
  bool repeatable_ = true;
  bool at_gate_ = false; ///< its wait is one at a gate, not one for its next attempt
  slot_use slot_ = slot_use::keep;
  std::uint32_t ordinal_ = 0;
  std::uint32_t attempt_ = 0;
  token question_ = 0;
  timestamp at_{};    ///< of its newest record
  timestamp until_{}; ///< of its wait
  std::string name_;
  std::string payload_; ///< JSON: the result, or what a wait waits for
  rare<failure> failed_;
};

class sleep_operation : public operation {
public:
  sleep_operation(std::string name, timestamp until)
    : operation{step_kind::sleep, std::move(name)}, wake_at_{until} {}
  sleep_operation(std::string name, duration wait)
    : operation{step_kind::sleep, std::move(name)}, wait_{wait} {}

  /// Recorded when it is asked for the first time.
  [[nodiscard]] timestamp end(timestamp now) const noexcept {
    return wait_ ? now + *wait_ : wake_at_;
  }

private:
  timestamp wake_at_{};
  std::optional<duration> wait_;
};

class send_operation : public operation {
public:
  send_operation(std::string name, std::vector<event_draft> events)
    : operation{step_kind::send, std::move(name)}, events{std::move(events)} {}

  std::vector<event_draft> events;
};

/// What a wait waits for, as its record keeps it.
struct wait_target {
  std::string kind;
  std::string subject;
};

template <class Fields>
void describe(Fields& f, wait_target& x) {
  f("kind", x.kind);
  f("subject", x.subject);
}

class wait_operation : public operation {
public:
  wait_operation(std::string name, wait_target target, std::optional<duration> timeout)
    : operation{step_kind::wait, std::move(name)}, target{std::move(target)}, timeout{timeout} {}

  wait_target target;
  std::optional<duration> timeout;
};

/// Which child an invocation started, as its record keeps it.
struct child_ref {
  uuid child;
};

template <class Fields>
void describe(Fields& f, child_ref& x) {
  f("child", x.child);
}

class invoke_operation : public operation {
public:
  invoke_operation(std::string name, std::string workflow, std::string input)
    : operation{step_kind::invoke, std::move(name)}, workflow{std::move(workflow)},
      input{std::move(input)} {}

  std::string workflow;
  std::string input;
  run_id child;
};

} // namespace sluice
