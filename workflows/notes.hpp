#pragma once

#include "messages/run.hpp"

#include <cstdint>
#include <string>

/// What records and events of a run say beside their own fields, as JSON.
namespace sluice::detail {

/// What the record of a step that will be run again says beside its time.
struct pause_note {
  std::string reason;
  bool gate = false;
  bool slot_back = false;
};

template <class Fields>
void describe(Fields& f, pause_note& x) {
  f("reason", x.reason);
  f("gate", x.gate);
  f("slotBack", x.slot_back);
}

/// The data of a `step.failed` event.
struct attempt_note {
  std::string step;
  std::uint32_t attempt = 0;
  bool last = false;
  failure error;
};

template <class Fields>
void describe(Fields& f, attempt_note& x) {
  f("step", x.step);
  f("attempt", x.attempt);
  f("last", x.last);
  f("error", x.error);
}

} // namespace sluice::detail
