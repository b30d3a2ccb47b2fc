#pragma once

#include "tests/support/world.hpp"

#include <functional>
#include <optional>
#include <string>

namespace sluice {

/// What a test tells of a node that may die at any message. `begin` is what clients do: it is done
/// at every boot, because a client repeats what nobody acknowledged, so everything in it carries an
/// idempotency key. The story is over when `done` says so.
struct story {
  const catalog& flows;
  std::function<void(world&)> begin;
  std::function<bool(const world&)> done;
  std::function<void(const world&)> check;
  world_options options{};
  duration at_most{std::chrono::hours{2}};
};

/// Plays the story once undisturbed, then once for every message: the node is killed after it,
/// boots again and must come to the same end. How many times it was killed.
std::size_t killed_at_every_message(const story& s);

/// Messages one by one, timer by timer, until `when`; false: it did not happen within `at_most`.
bool run_until(world& w, const std::function<bool()>& when,
               duration at_most = std::chrono::hours{2});
/// The node dies at the very message after which `when` holds.
bool crash_when(world& w, const std::function<bool()>& when);

/// Asks and leaves the answer to whoever waits for it; nothing runs meanwhile.
void request_later(world& w, run_request what);
void publish_later(world& w, std::string kind, std::string subject, std::string data,
                   std::string key);

/// The run that was requested with this idempotency key.
std::optional<run_id> run_of(const world& w, std::string_view key);
/// The result of the run with this key as JSON text; empty: none yet, or it did not complete.
std::string result_of(const world& w, std::string_view key);
/// The newest record of a step by its name.
std::optional<step_record> step_named(const world& w, run_id run, std::string_view name);
/// Is it an error, and this one?
template <class T>
bool refused(const result<T>& answer, errc why) {
  return !answer && answer.error() == why;
}

run_request keyed_request(std::string workflow, std::string input, std::string key);

} // namespace sluice
