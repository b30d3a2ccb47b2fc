#pragma once

#include "base/hash.hpp"
#include "sandbox/options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Who exists: connections, their repositories and projects. All of it is computed from numbers.
namespace sluice::sandbox {

enum class provider : std::uint8_t { github, vercel };
enum class entity : std::uint8_t { pull_request, issue, release, deployment };

/// `github`, as in paths and connections.
[[nodiscard]] std::string_view to_string(provider p) noexcept;
/// `pull_request`: also the key under which a payload holds the item.
[[nodiscard]] std::string_view to_string(entity e) noexcept;

struct connection_ref {
  provider from = provider::github;
  std::uint32_t number = 0; ///< from 1; the one after the last tenant is `big`

  friend auto operator<=>(const connection_ref&, const connection_ref&) = default;
};

/// A repository or a project.
struct resource_ref {
  connection_ref owner;
  std::uint32_t index = 0; ///< from 1

  friend auto operator<=>(const resource_ref&, const resource_ref&) = default;
  [[nodiscard]] std::uint64_t key() const noexcept {
    return (std::uint64_t{owner.from == provider::vercel} << 63)
           | (std::uint64_t{owner.number} << 24) | index;
  }
};

/// What one unit of a backfill reads.
struct list_ref {
  resource_ref of;
  entity kind = entity::pull_request;

  friend auto operator<=>(const list_ref&, const list_ref&) = default;
};

class world {
public:
  explicit world(const options& o) : options_{o} {}

  [[nodiscard]] const options& about() const noexcept { return options_; }
  /// How many connections a provider has; `big` included.
  [[nodiscard]] std::uint32_t connections(provider p) const noexcept;
  [[nodiscard]] std::optional<connection_ref> connection(std::string_view id) const;
  [[nodiscard]] std::string id_of(connection_ref c) const;
  [[nodiscard]] std::string org_of(connection_ref c) const;
  /// The installation or the team at the provider.
  [[nodiscard]] std::string external_id_of(connection_ref c) const;
  [[nodiscard]] std::uint32_t resources(connection_ref c) const noexcept;

  /// The provider's id: digits of a repository, `prj_…` of a project.
  [[nodiscard]] std::string provider_id_of(resource_ref r) const;
  [[nodiscard]] std::uint64_t repo_id_of(resource_ref r) const noexcept;
  /// `acme-1/web-3`, or the name of a project.
  [[nodiscard]] std::string name_of(resource_ref r) const;
  /// The name that connections know: that before the renaming, if there was one.
  [[nodiscard]] std::string known_name_of(resource_ref r) const;
  [[nodiscard]] bool renamed(resource_ref r) const noexcept;

  struct named_repo {
    resource_ref repo;
    bool old_name = false;
  };
  [[nodiscard]] std::optional<named_repo> repo_named(std::string_view owner,
                                                     std::string_view name) const;
  [[nodiscard]] std::optional<resource_ref> repo_with_id(std::string_view id) const;
  [[nodiscard]] std::optional<resource_ref> project_with_id(std::string_view id) const;

  [[nodiscard]] std::vector<entity> kinds(provider p) const;
  /// `backfill-conn-1-100100001-pr-`: what stands before the number, id or uid (B19).
  [[nodiscard]] std::string delivery_prefix(list_ref l) const;

private:
  [[nodiscard]] bool exists(resource_ref r) const noexcept {
    return r.index >= 1 && r.index <= resources(r.owner);
  }

  options options_;
};

} // namespace sluice::sandbox
