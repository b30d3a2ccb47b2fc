#pragma once

#include <caf/meta/type_name.hpp>

#include <cstdint>
#include <string>

namespace sluice {

/// What an actor tells the console about itself.
struct actor_card {
  std::string kind;          ///< `journal`, `run-host` …
  std::uint64_t id = 0;      ///< CAF's actor id
  std::string label;         ///< what tells it from others of its kind; may be empty
  std::uint64_t mailbox = 0; ///< messages that wait
  std::string state;         ///< in a word or a sentence
  std::uint64_t handled = 0; ///< messages so far
  std::uint64_t busy_us = 0; ///< time spent in handlers
  std::string waits_for;     ///< what it waits for; empty: nothing but mail
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, actor_card& x) {
  return f(caf::meta::type_name("actor_card"), x.kind, x.id, x.label, x.mailbox, x.state, x.handled,
           x.busy_us, x.waits_for);
}

} // namespace sluice
