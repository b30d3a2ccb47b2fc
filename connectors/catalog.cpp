#include "connectors/catalog.hpp"

#include "connectors/github.hpp"
#include "connectors/vercel.hpp"

namespace sluice {

void connector_catalog::add(std::unique_ptr<const connector> c) {
  std::string name{c->provider()};
  connectors_.insert_or_assign(std::move(name), std::move(c));
}

const connector* connector_catalog::find(std::string_view provider) const noexcept {
  const auto found = connectors_.find(provider);
  return found == connectors_.end() ? nullptr : found->second.get();
}

std::vector<std::string> connector_catalog::providers() const {
  std::vector<std::string> names;
  names.reserve(connectors_.size());
  for (const auto& [name, c] : connectors_)
    names.push_back(name);
  return names;
}

connector_catalog built_in_connectors() {
  connector_catalog all;
  all.add(std::make_unique<github_connector>());
  all.add(std::make_unique<vercel_connector>());
  return all;
}

} // namespace sluice
