#pragma once

#include "base/time.hpp"
#include "sandbox/world.hpp"

#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace sluice::sandbox {

/// What is known of an item beside its text.
struct item_facts {
  std::uint32_t number = 0; ///< of a pull request or issue; of releases and deployments from 1
  entity kind = entity::pull_request;
  std::uint32_t version = 0; ///< how often it was changed since the start
  bool open = false;
  bool added = false; ///< it was not there at the start
  std::int64_t created_ms = 0;
  std::int64_t updated_ms = 0;
  /// The time that decides whether a window holds it; nothing for a draft.
  std::optional<std::int64_t> window_ms;
};

/// Which part of a list is asked for, and in which order.
struct list_query {
  enum class states : std::uint8_t { open, closed, all };
  enum class order : std::uint8_t { created, updated };

  states state = states::all;
  order by = order::created;
  bool ascending = false;
  std::optional<std::int64_t> since_ms; ///< updated (deployments: created) then or later
  std::optional<std::int64_t> until_ms; ///< deployments: created before
};

/// What happened in each repository and project, and when. Items that exist from the start are
/// computed; only what changed since is kept. Safe from every thread.
class history {
public:
  history(const world& w, timestamp start) : world_{w}, start_ms_{to_millis(start) / 1000 * 1000} {}

  /// How many items of a kind each repository or project has from the start.
  [[nodiscard]] std::uint32_t count(entity kind) const noexcept;
  /// The number of the `k`th item of that kind, from 1. Pull requests and issues share their
  /// numbers, as they do at GitHub.
  [[nodiscard]] std::uint32_t number_of(entity kind, std::uint32_t k) const noexcept;
  /// An item as it was at the start.
  [[nodiscard]] item_facts at_start(list_ref l, std::uint32_t number) const;

  /// The items of a list, in its order, as they are now. The list of issues holds pull requests.
  [[nodiscard]] std::vector<item_facts> list(list_ref l, const list_query& q) const;

  /// The list moves under its readers: an old item is updated, or a new one is there.
  void move(list_ref l, timestamp now);
  /// Counts the moves of a repository or project.
  [[nodiscard]] std::uint32_t revision(resource_ref r) const;

private:
  struct touch {
    std::int64_t at = 0;
    std::uint32_t version = 0;
  };
  struct addition {
    entity kind = entity::pull_request;
    std::int64_t at = 0;
  };
  struct changes {
    std::uint32_t moves = 0;
    std::unordered_map<std::uint32_t, touch> touched; ///< pull requests and issues, by number
    std::vector<addition> threads; ///< pull requests and issues: their numbers go on
    std::vector<addition> others;  ///< releases or deployments: a resource has one of them
  };

  [[nodiscard]] entity kind_of(std::uint32_t number) const noexcept;
  [[nodiscard]] std::int64_t created_at(list_ref l, std::uint32_t number, std::uint32_t of) const;
  [[nodiscard]] item_facts added(entity kind, std::uint32_t number, std::int64_t at) const;

  const world& world_;
  const std::int64_t start_ms_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, changes> changes_; ///< by key of the resource
};

} // namespace sluice::sandbox
