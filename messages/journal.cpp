#include "messages/journal.hpp"

namespace sluice {

std::string_view to_string(step_kind k) noexcept {
  switch (k) {
  case step_kind::work:
    return "work";
  case step_kind::sleep:
    return "sleep";
  case step_kind::send:
    return "send";
  case step_kind::wait:
    return "wait";
  case step_kind::invoke:
    return "invoke";
  case step_kind::version:
    return "version";
  }
  return "unknown";
}

std::string_view to_string(step_status s) noexcept {
  switch (s) {
  case step_status::started:
    return "started";
  case step_status::waiting:
    return "waiting";
  case step_status::done:
    return "done";
  case step_status::failed:
    return "failed";
  }
  return "unknown";
}

std::string_view to_string(table t) noexcept {
  switch (t) {
  case table::sent:
    return "sent";
  case table::gated:
    return "gated";
  case table::cert:
    return "cert";
  case table::limit:
    return "limit";
  case table::circuit:
    return "circuit";
  case table::dlq:
    return "dlq";
  case table::schedule:
    return "schedule";
  case table::node:
    return "node";
  }
  return "unknown";
}

} // namespace sluice
