#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace sluice::sandbox {

/// What a sandbox counts; each name is a key of the ledger.
enum class counter : std::uint8_t {
  // requests by kind
  github_pulls,
  github_issues,
  github_releases,
  github_other,
  vercel_deployments,
  vercel_other,
  gateway_connections,
  gateway_tokens,
  gateway_webhooks,
  other,
  // what became of them
  tokens_issued,
  unauthorized,
  rate_limited,
  rate_exceeded,
  provider_faults,
  gateway_faults,
  lost_answers,
  calls_while_down,
  malformed,
  misaddressed,
  poison_answers,
  moves,
  end
};

constexpr std::size_t request_kinds = static_cast<std::size_t>(counter::other) + 1;

constexpr std::array<std::string_view, static_cast<std::size_t>(counter::end)> counter_names{
  "github_pulls",        "github_issues",
  "github_releases",     "github_other",
  "vercel_deployments",  "vercel_other",
  "gateway_connections", "gateway_tokens",
  "gateway_webhooks",    "other",
  "tokens_issued",       "unauthorized",
  "rate_limited",        "rate_exceeded",
  "provider_faults",     "gateway_faults",
  "lost_answers",        "calls_while_down",
  "malformed",           "misaddressed",
  "poison_answers",      "moves"};

class counters {
public:
  void add(counter c) noexcept { at(c).fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get(counter c) const noexcept {
    return values_[static_cast<std::size_t>(c)].load(std::memory_order_relaxed);
  }
  void clear() noexcept {
    for (auto& v : values_)
      v.store(0, std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint64_t>& at(counter c) noexcept {
    return values_[static_cast<std::size_t>(c)];
  }
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(counter::end)> values_{};
};

} // namespace sluice::sandbox
