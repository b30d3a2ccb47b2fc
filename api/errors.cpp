#include "api/errors.hpp"

#include "base/json.hpp"
#include "base/redact.hpp"

#include <caf/sec.hpp>

namespace sluice::api {

namespace {

/// `field: message`, where the field is a single word.
mistake read_mistake(const std::string& detail) {
  const auto colon = detail.find(": ");
  if (colon == detail.npos || detail.find(' ') < colon) return {"", detail};
  return {detail.substr(0, colon), detail.substr(colon + 2)};
}

http::problem of_caf(const error& e) {
  if (e == caf::sec::request_timeout) {
    return {504, "TIMED_OUT", "the node did not answer in time", true};
  }
  if (e == caf::sec::request_receiver_down || e == caf::sec::invalid_argument) {
    return {503, "UNAVAILABLE", "the node is starting or stopping", true};
  }
  return {500, "INTERNAL", "something went wrong inside the node; its log says what"};
}

} // namespace

http::problem invalid(const std::vector<mistake>& mistakes) {
  http::problem p{400, "VALIDATION_ERROR", ""};
  json::writer details;
  details.obj().key("fields").arr();
  for (const auto& m : mistakes) {
    if (!p.message.empty()) p.message += "; ";
    p.message += m.field.empty() ? m.message : m.field + ": " + m.message;
    details.obj().key("field").str(m.field).key("message").str(m.message).end();
  }
  p.details = details.end().end().take();
  return p;
}

http::problem to_problem(const error& e) {
  if (e.category() != caf::atom("sluice")) return of_caf(e);
  const auto detail = redact(detail_of(e));
  switch (code_of(e)) {
  case errc::bad_input:
    return invalid({read_mistake(detail)});
  case errc::not_found:
    return {404, "JOB_NOT_FOUND", detail};
  case errc::conflict:
    return {409, "CONFLICT", detail};
  case errc::already_running:
    return {409, "JOB_ALREADY_RUNNING", detail};
  case errc::cancelled:
    return {409, "CANCELLED", detail};
  case errc::too_large:
    return {413, "TOO_LARGE", detail};
  case errc::timed_out:
    return {504, "TIMED_OUT", detail, true};
  case errc::unavailable:
    return {503, "UNAVAILABLE", detail, true};
  case errc::disk_full:
    return {503, "STORAGE_ERROR", detail, true};
  case errc::storage_failed:
  case errc::corrupt:
  case errc::foreign_folder:
  case errc::newer_format:
  case errc::locked:
    return {500, "STORAGE_ERROR", detail};
  case errc::address_in_use:
  case errc::network:
  case errc::nondeterministic:
  case errc::step_failed:
  case errc::internal:
    break;
  }
  return {500, "INTERNAL", detail};
}

} // namespace sluice::api
