#pragma once

#include "connectors/connector.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Name to connector. Filled at start, then only read, by any thread.
class connector_catalog {
public:
  /// One of the same name is replaced.
  void add(std::unique_ptr<const connector> c);

  /// Null when no connector has that name.
  [[nodiscard]] const connector* find(std::string_view provider) const noexcept;

  /// All names, sorted.
  [[nodiscard]] std::vector<std::string> providers() const;

private:
  std::map<std::string, std::unique_ptr<const connector>, std::less<>> connectors_;
};

/// The connectors that this build brings: GitHub and Vercel.
[[nodiscard]] connector_catalog built_in_connectors();

} // namespace sluice
