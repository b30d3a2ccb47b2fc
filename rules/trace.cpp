#include "rules/trace.hpp"

#include "base/hash.hpp"

#include <algorithm>

namespace sluice {

namespace {

// version "-" 32 hex "-" 16 hex "-" flags
constexpr std::size_t traceparent_size = 55;
constexpr std::size_t span_at = 36;

bool is_hex(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) noexcept {
  return text.find_first_not_of('0') == std::string_view::npos;
}

/// W3C forbids ids of zeros only.
std::string nonzero_hex(std::uint64_t bits) {
  return to_hex(bits == 0 ? 1 : bits);
}

} // namespace

bool is_traceparent(std::string_view text) noexcept {
  if (text.size() != traceparent_size) return false;
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
  auto version = text.substr(0, 2);
  auto trace = text.substr(3, 32);
  auto span = text.substr(span_at, 16);
  auto flags = text.substr(53, 2);
  return is_hex(version) && version != "ff" && is_hex(trace) && !is_zero(trace) && is_hex(span)
         && !is_zero(span) && is_hex(flags);
}

std::string new_traceparent(std::uint64_t high, std::uint64_t low, std::uint64_t span) {
  return "00-" + nonzero_hex(high) + to_hex(low) + "-" + nonzero_hex(span) + "-01";
}

std::string child_traceparent(std::string_view parent, std::uint64_t entropy) {
  if (!is_traceparent(parent))
    return new_traceparent(mix64(entropy, 1), mix64(entropy, 2), mix64(entropy, 3));
  std::string child{parent};
  child.replace(span_at, 16, nonzero_hex(mix64(hash64(parent), entropy)));
  return child;
}

} // namespace sluice
