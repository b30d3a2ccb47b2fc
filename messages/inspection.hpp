#pragma once

#include <cstdint>
#include <string>

namespace sluice {

/// What an actor tells the console about itself.
struct actor_card {
  std::string kind;            ///< `journal`, `run-host` …
  std::uint64_t id = 0;        ///< CAF's actor id
  std::string label;           ///< what tells it from others of its kind; may be empty
  std::uint64_t mailbox = 0;   ///< messages that wait
  std::string state;           ///< in a word or a sentence
  std::uint64_t handled = 0;   ///< messages so far
  std::uint64_t busy_us = 0;   ///< time spent in handlers
  std::string waits_for;       ///< what it waits for; empty: nothing but mail
};

} // namespace sluice
