#pragma once

#include "base/time.hpp"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

/// Structured logs: one line per call, text on a terminal, JSON otherwise. Every line is redacted
/// here, so that whatever reads it gets the safe text (X9, S9). A log call never blocks on I/O: a
/// thread of its own writes; when it cannot keep up the oldest lines are dropped and counted.
namespace sluice::log {

enum class level : std::uint8_t { debug, info, warning, error, off };

enum class format : std::uint8_t { automatic, text, json };

struct options {
  level least = level::info;
  format shape = format::automatic;
  /// Empty: standard error.
  std::string file;
};

/// A name with its value, already as text; numbers print without quotes.
struct field {
  field(std::string_view k, std::string_view v) : key{k}, value{v} {}
  field(std::string_view k, const char* v) : key{k}, value{v} {}
  field(std::string_view k, const std::string& v) : key{k}, value{v} {}
  field(std::string_view k, bool v) : key{k}, value{v ? "true" : "false"}, bare{true} {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  field(std::string_view k, T v) : key{k}, value{std::to_string(v)}, bare{true} {}
  field(std::string_view k, double v) : key{k}, value{std::to_string(v)}, bare{std::isfinite(v)} {}
  field(std::string_view k, duration v) : key{k}, value{std::to_string(v.count())}, bare{true} {}

  std::string_view key;
  std::string value;
  bool bare = false;
};

using fields = std::initializer_list<field>;

/// Call once, before the first thread starts. Until then lines go to standard error as text.
void start(const options& o);
/// Writes what is queued. Call before `main` returns.
void stop();
void set_level(level least) noexcept;
[[nodiscard]] bool enabled(level l) noexcept;
/// Lines dropped because the writer could not keep up.
[[nodiscard]] std::uint64_t dropped() noexcept;

void write(level l, std::string_view message, fields fs = {});
inline void debug(std::string_view message, fields fs = {}) {
  write(level::debug, message, fs);
}
inline void info(std::string_view message, fields fs = {}) {
  write(level::info, message, fs);
}
inline void warning(std::string_view message, fields fs = {}) {
  write(level::warning, message, fs);
}
inline void error(std::string_view message, fields fs = {}) {
  write(level::error, message, fs);
}

/// The finished line, as `write` would print it: for tests and for sinks of their own.
[[nodiscard]] std::string render(format f, timestamp at, level l, std::string_view message,
                                 fields fs);

} // namespace sluice::log
