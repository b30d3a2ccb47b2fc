#pragma once

#include "messages/http.hpp"
#include "tests/simulation/findings.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace sluice::simulation {

/// The other side of every call. What it does wrong is written in the URL; what it did is written
/// here, and no crash of the node changes it.
class scripted_provider {
public:
  explicit scripted_provider(findings& found) : found_{found} {}

  http_response answer(const http_request& request);

  [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }
  [[nodiscard]] std::uint64_t faults() const noexcept { return faults_; }

private:
  struct place {
    std::string key;
    std::uint64_t requests = 0;
  };

  findings& found_;
  std::map<std::string, place> places_;       ///< by path
  std::map<std::string, std::string> owners_; ///< key → path
  std::uint64_t requests_ = 0;
  std::uint64_t faults_ = 0;
};

} // namespace sluice::simulation
