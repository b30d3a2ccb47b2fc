#pragma once

#include <caf/error.hpp>
#include <caf/expected.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// What went wrong, as far as a caller would act differently. docs/errors.md has a line for each.
enum class errc : std::uint8_t {
  bad_input = 1,    ///< the caller sent something that can never work
  not_found,        ///< no such run, workflow, event or file
  conflict,         ///< the thing exists already or is in a state that forbids this
  already_running,  ///< a run of that installation is under way, and the asker wants no second
  unavailable,      ///< the node is starting, stopping or read-only: try again later
  timed_out,        ///< no answer within the limit
  cancelled,        ///< the run was cancelled
  too_large,        ///< a limit on size was exceeded
  corrupt,          ///< a stored record fails its checksum or cannot be read
  disk_full,        ///< the store has no room; nothing was written
  storage_failed,   ///< the store answered with an error that retrying does not mend
  foreign_folder,   ///< the data folder is not one of ours
  newer_format,     ///< the journal was written by a newer build
  locked,           ///< another process holds the data folder
  address_in_use,   ///< the port is taken
  network,          ///< connection refused, reset, name not resolved
  nondeterministic, ///< a replay asked for other steps than the journal holds
  step_failed,      ///< a step ran out of attempts or failed for good
  internal,         ///< a bug of ours
};

/// The name of `code` as it stands in logs, in the journal and in docs/errors.md.
std::string_view to_string(errc code) noexcept;

/// The value of that name, or `errc::internal` for a name that no build knows.
errc errc_from_string(std::string_view name) noexcept;

template <class T>
using result = caf::expected<T>;

using error = caf::error;

/// An error of ours with a sentence for people.
error make_error(errc code, std::string detail);

/// `code: detail`, also for errors that CAF itself made.
std::string to_text(const error& e);

/// The sentence alone; empty when there is none.
std::string detail_of(const error& e);

/// The code of one of our errors; CAF's own become `errc::internal`.
errc code_of(const error& e) noexcept;

} // namespace sluice

CAF_ERROR_CODE_ENUM(sluice::errc, "sluice")
