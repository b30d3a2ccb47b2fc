#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::simulation {

/// A broken invariant: its id in the reliability guide or the spec, and what was seen.
struct finding {
  std::string invariant;
  std::string text;
};

/// The first broken invariant of a seed. Hooks run inside actors, where nothing may be thrown: they
/// note, and the driver looks after every message.
class findings {
public:
  void report(std::string_view invariant, std::string text) {
    if (!first_) first_ = finding{std::string{invariant}, std::move(text)};
  }
  void expect(bool holds, std::string_view invariant, std::string_view text) {
    if (!holds) report(invariant, std::string{text});
  }
  [[nodiscard]] const std::optional<finding>& first() const noexcept { return first_; }

private:
  std::optional<finding> first_;
};

} // namespace sluice::simulation
