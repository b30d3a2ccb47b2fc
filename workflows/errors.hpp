#pragma once

#include "base/time.hpp"
#include "messages/run.hpp"
#include "rules/retry.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

/// What the work of a step may throw, and what a failed step throws into its workflow (P3).
namespace sluice {

/// Ends the step at once: another attempt cannot help.
class non_retriable : public std::exception {
public:
  non_retriable(std::string code, std::string message)
    : code_{std::move(code)}, message_{std::move(message)} {}
  [[nodiscard]] const std::string& code() const noexcept { return code_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

private:
  std::string code_;
  std::string message_;
};

/// A failed attempt; the next one comes after exactly this long.
class retry_after : public std::exception {
public:
  retry_after(duration wait, std::string message) : wait_{wait}, message_{std::move(message)} {}
  [[nodiscard]] duration wait() const noexcept { return wait_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

private:
  duration wait_;
  std::string message_;
};

/// No failure: the step is run again at that time and no attempt is used. The time does not count
/// for the run's `finish` time-out (P12).
class wait_until : public std::exception {
public:
  wait_until(timestamp until, std::string reason, slot_use slots = slot_use::keep)
    : until_{until}, reason_{std::move(reason)}, slots_{slots} {}
  [[nodiscard]] timestamp until() const noexcept { return until_; }
  [[nodiscard]] slot_use slots() const noexcept { return slots_; }
  [[nodiscard]] const char* what() const noexcept override { return reason_.c_str(); }

private:
  timestamp until_;
  std::string reason_;
  slot_use slots_;
};

/// Thrown by `co_await` when a step or a child ended without result. The same at every replay.
class step_failed : public std::exception {
public:
  explicit step_failed(failure why) : why_{std::move(why)} {}
  [[nodiscard]] const failure& why() const noexcept { return why_; }
  [[nodiscard]] const char* what() const noexcept override { return why_.message.c_str(); }

private:
  failure why_;
};

} // namespace sluice
