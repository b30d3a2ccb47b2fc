#pragma once

#include "base/json.hpp"
#include "base/time.hpp"
#include "tests/simulation/dice.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a simulated workflow does, as data: the input of its run. One interpreter (flows.hpp) runs
/// all programs on the real engine; `expected_end` says without any engine how one must end.
namespace sluice::simulation {

enum class act_kind : std::uint8_t {
  add,     ///< a step without network
  call,    ///< a step that asks the provider
  once,    ///< a step that must not be repeated
  sleep,   ///< durable
  send,    ///< an event
  wait,    ///< for an event, with or without time-out
  invoke,  ///< a child
  all,     ///< its parts at once
  version, ///< asks which side of a change it takes
  poison,  ///< a step that kills the process, always
};

/// How the first tries of a step fail (P3).
enum class trouble : std::uint8_t {
  none,
  error,     ///< retried with backoff
  later,     ///< retry_after
  gate,      ///< wait_until, the slot is kept
  gate_away, ///< wait_until, the slot goes back
  final,     ///< non_retriable
  vanish,    ///< of a call: the provider did it, but the answer never came
};

struct program;

struct act {
  act_kind kind = act_kind::add;
  std::string name; ///< of the step: unique in its program
  std::uint64_t value = 0;
  trouble how = trouble::none;
  std::uint32_t fails = 0; ///< so many tries end in trouble
  duration time{};         ///< of a sleep, a time-out (0: none), a pause before the next try
  std::string subject;     ///< of an event
  bool tolerate = false;   ///< a failure is noted instead of ending the run
  std::vector<act> parts;
  std::vector<program> child; ///< of an invocation: one
};

struct program {
  std::string id;
  std::string flow; ///< which workflow runs it
  std::string key;  ///< of limits
  std::vector<act> acts;
};

template <class Fields>
void describe(Fields& f, act& x) {
  f("kind", x.kind);
  f("name", x.name);
  f("value", x.value);
  f("how", x.how);
  f("fails", x.fails);
  f("time", x.time);
  f("subject", x.subject);
  f("tolerate", x.tolerate);
  f("parts", x.parts);
  f("child", x.child);
}

template <class Fields>
void describe(Fields& f, program& x) {
  f("id", x.id);
  f("flow", x.flow);
  f("key", x.key);
  f("acts", x.acts);
}

/// The result of a program's run: what each act said, in order.
struct program_result {
  std::string id;
  std::vector<std::string> said;

  friend bool operator==(const program_result&, const program_result&) = default;
};

template <class Fields>
void describe(Fields& f, program_result& x) {
  f("id", x.id);
  f("said", x.said);
}

/// The workflows that run programs; flows.cpp says what each of them limits.
namespace flow {
inline constexpr const char* plain = "sim.plain";
inline constexpr const char* limited = "sim.limited";
inline constexpr const char* throttled = "sim.throttled";
inline constexpr const char* guarded = "sim.guarded";
inline constexpr const char* apart = "sim.apart";
} // namespace flow

/// How many attempts a step of these workflows has.
inline constexpr std::uint32_t attempts_max = 4;

/// Which shapes a seed may draw.
struct shape_options {
  bool network = true;
  bool events = true;
  bool children = true;
  bool parallel = true;
  bool failures = true;
  bool once = true;
  std::string flow; ///< set: most programs run in this one
  std::uint32_t acts_max = 6;
};

[[nodiscard]] program draw_program(dice& d, std::string id, const shape_options& shapes,
                                   std::uint32_t depth = 0);

/// In one line, for people.
[[nodiscard]] std::string to_text(const program& p);

/// Does the program, or one of its children, hold an act of this kind?
[[nodiscard]] bool contains(const program& p, act_kind kind);

/// Calls `visit` for the program and its children, and theirs.
void each_program(const program& p, const std::function<void(const program&)>& visit);

/// What an act says when its step gave `value`.
[[nodiscard]] std::string said_of(const act& a, std::string_view value);
/// What the provider answers to a call.
[[nodiscard]] std::string provider_value(std::string_view program_id, std::string_view act_name);

/// What no model can foresee, as the journal has it.
struct observations {
  /// What this wait resolved with: the data of an event, or `none`.
  std::function<std::string(const program&, const act&)> wait;
  /// The code with which the run of a program ended from outside: cancelled, timed out. Nothing: it
  /// ended by itself.
  std::function<std::optional<std::string>(const program&)> cut;
};

struct program_end {
  program_result result;
  /// Set: it fails with this code, at this step.
  std::optional<std::string> code;
  std::string step;
};

[[nodiscard]] program_end expected_end(const program& p, const observations& seen);

} // namespace sluice::simulation
