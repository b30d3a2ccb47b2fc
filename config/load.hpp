#pragma once

#include "base/error.hpp"
#include "config/settings.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// The value of an environment variable; nothing when it is not set. `app` gives that of the
/// process, tests one of their own.
using environment = std::function<std::optional<std::string>(const std::string& name)>;

/// What the command line says; wins over everything else.
struct overrides {
  std::optional<std::string> listen; ///< --listen
  std::optional<std::string> data;   ///< --data
};

struct load_request {
  /// Nothing: no file is read. A file that is named must exist.
  std::optional<std::string> file;
  /// Empty: no variable is set.
  environment env;
  overrides flags;
};

/// The settings: flag before environment before file before default. A key `k` of section `s` is
/// overridden by `SLUICE_S_K`, a key of the root by `SLUICE_K`; an empty variable counts as not
/// set, one that no setting has is left to others.
///
/// Fails with `errc::bad_input` and every problem on a line of its own, each naming file, line,
/// column and key, or the variable, or the flag; with `errc::not_found` when the file cannot be
/// read.
[[nodiscard]] result<settings> load_settings(const load_request& request);

/// Every key that there is, in the order of sluice.toml: `listen`, `node.name` …
[[nodiscard]] std::vector<std::string> setting_keys();

/// The variable that overrides `key`: `SLUICE_NODE_NAME` for `node.name`.
[[nodiscard]] std::string setting_variable(const std::string& key);

} // namespace sluice
