#pragma once

#include "messages/inspection.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice {

/// What an actor's card says about its work so far; a member `activity` of every actor's state.
struct actor_activity {
  std::uint64_t handled = 0;
  std::chrono::nanoseconds busy{};
};

namespace detail {

template <class Self, class F, class Signature>
struct counted_handler;

template <class Self, class F, class R, class... Args>
struct counted_handler<Self, F, R (F::*)(Args...) const> {
  Self self;
  F handle;

  R operator()(Args... args) const {
    struct meter {
      Self self;
      std::chrono::steady_clock::time_point since = self->clock().now();
      ~meter() {
        ++self->state.activity.handled;
        self->state.activity.busy += self->clock().now() - since;
      }
    } running{self};
    return handle(std::forward<Args>(args)...);
  }
};

} // namespace detail

/// A handler that also counts: how many messages, how much time.
template <class Self, class F>
auto counted(Self self, F handle) {
  return detail::counted_handler<Self, F, decltype(&F::operator())>{self, std::move(handle)};
}

/// What every card has; the actor adds its state and what it waits for.
template <class Self>
actor_card card_of(Self self, std::string state, std::string waits_for = {}) {
  actor_card card;
  card.kind = self->state.name;
  card.id = self->id();
  card.mailbox = self->mailbox().size();
  card.state = std::move(state);
  card.handled = self->state.activity.handled;
  card.busy_us = static_cast<std::uint64_t>(
    std::chrono::duration_cast<std::chrono::microseconds>(self->state.activity.busy).count());
  card.waits_for = std::move(waits_for);
  return card;
}

} // namespace sluice
