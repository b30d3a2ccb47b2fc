#pragma once

#include <utility>

namespace sluice {

/// Delivers and returns nothing, so that a handler can end with it.
template <class Promise, class T>
void reply(Promise& to, T&& what) {
  to.deliver(std::forward<T>(what));
}

} // namespace sluice
