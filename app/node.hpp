#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "config/settings.hpp"
#include "messages/actors.hpp"
#include "storage/store.hpp"
#include "workflows/catalog.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <functional>
#include <memory>
#include <string>

namespace sluice {

/// CAF as sluice uses it: our message types, our errors, turns of fifty messages
/// (guides/caf-0.17.md, rule 4).
class caf_config : public caf::actor_system_config {
public:
  explicit caf_config(std::uint32_t threads = 0);
};

/// What a node is made of. The store and the catalog must outlive it.
struct node_parts {
  settings config;
  engine_clock clock;
  store* disk = nullptr;
  shard_grant grant;
  const catalog* flows = nullptr;
  std::function<void(std::string why)> on_death; ///< an actor of the core died: end the process
};

/// All spawning and wiring of one node, without its HTTP side. Detached are the actors that touch
/// the disk: journal and reader.
class node {
public:
  explicit node(node_parts parts);
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// Loads the unfinished runs and starts them; returns when each has its place.
  result<recovered> recover();

  /// Ordered shutdown: true when every step under way ended and the journal says so.
  bool stop();

  [[nodiscard]] const core_actors& core() const noexcept { return core_; }
  [[nodiscard]] caf::actor_system& system() noexcept { return system_; }

private:
  node_parts parts_;
  caf_config config_;
  caf::actor_system system_;
  core_actors core_;
  supervisor_actor supervisor_;
};

} // namespace sluice
