#include "base/error.hpp"

#include <caf/atom.hpp>
#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

#include <array>
#include <utility>

namespace sluice {

namespace error_names {

constexpr std::array<std::pair<errc, std::string_view>, 19> all{{
  {errc::bad_input, "bad_input"},
  {errc::not_found, "not_found"},
  {errc::conflict, "conflict"},
  {errc::already_running, "already_running"},
  {errc::unavailable, "unavailable"},
  {errc::timed_out, "timed_out"},
  {errc::cancelled, "cancelled"},
  {errc::too_large, "too_large"},
  {errc::corrupt, "corrupt"},
  {errc::disk_full, "disk_full"},
  {errc::storage_failed, "storage_failed"},
  {errc::foreign_folder, "foreign_folder"},
  {errc::newer_format, "newer_format"},
  {errc::locked, "locked"},
  {errc::address_in_use, "address_in_use"},
  {errc::network, "network"},
  {errc::nondeterministic, "nondeterministic"},
  {errc::step_failed, "step_failed"},
  {errc::internal, "internal"},
}};

bool is_ours(const error& e) noexcept {
  return e && e.category() == caf::detail::error_factory<errc>::category;
}

/// What CAF calls one of its own errors.
std::string foreign_name(const error& e) {
  if (e.category() == caf::atom("system")) return to_string(static_cast<caf::sec>(e.code()));
  if (e.category() == caf::atom("exit")) return to_string(static_cast<caf::exit_reason>(e.code()));
  return to_string(e.category()) + " error " + std::to_string(e.code());
}

} // namespace error_names

std::string_view to_string(errc code) noexcept {
  for (const auto& [value, name] : error_names::all) {
    if (value == code) return name;
  }
  return "internal";
}

errc errc_from_string(std::string_view name) noexcept {
  for (const auto& [value, known] : error_names::all) {
    if (known == name) return value;
  }
  return errc::internal;
}

error make_error(errc code, std::string detail) {
  return error{code, std::move(detail)};
}

std::string to_text(const error& e) {
  if (!e) return "no error";
  std::string text =
    error_names::is_ours(e) ? std::string{to_string(code_of(e))} : error_names::foreign_name(e);
  if (auto detail = detail_of(e); !detail.empty()) text += ": " + detail;
  return text;
}

std::string detail_of(const error& e) {
  if (!e) return {};
  const auto& context = e.context();
  if (context.size() == 1 && context.match_element<std::string>(0))
    return context.get_as<std::string>(0);
  return context.empty() ? std::string{} : to_string(context);
}

errc code_of(const error& e) noexcept {
  if (!error_names::is_ours(e)) return errc::internal;
  return static_cast<errc>(e.code());
}

} // namespace sluice
