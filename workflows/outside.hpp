#pragma once

#include "base/error.hpp"
#include "messages/delivery.hpp"
#include "messages/gates.hpp"
#include "messages/http.hpp"
#include "messages/ids.hpp"
#include "messages/reads.hpp"

#include <coroutine>
#include <memory>
#include <optional>
#include <variant>

namespace sluice {

/// What the work of a step may ask of the world: a request over the network, a pass for one, a page
/// of events to deliver, or something that the store holds.
using outside_question =
  std::variant<http_request, pass_request, std::shared_ptr<page_parcels>, load_marks, load_table>;

/// What comes back, in the same order; an `error` when the store could not be read.
using outside_answer =
  std::variant<http_response, pass_answered, page_delivered, marks_loaded, table_page, error>;

/// A question that is open; lives in the frame that awaits it.
struct outside_wait {
  token id = 0;
  std::coroutine_handle<> waiter;
  std::optional<outside_answer> answer;
  std::string stalled; ///< what a delivery waits for, for people
  timestamp stalled_until{};
};

} // namespace sluice
