#include "storage/run_records.hpp"

#include <algorithm>

namespace sluice {

namespace {

/// Merging costs a pass over all steps, so it waits for a share of them.
constexpr std::uint32_t unmerged_least = 64;
constexpr std::uint32_t unmerged_share = 8;

bool by_ordinal_then_seq(const step_place& a, const step_place& b) noexcept {
  return a.ordinal != b.ordinal ? a.ordinal < b.ordinal : a.seq() < b.seq();
}

} // namespace

void run_records::add(record_role role, std::uint64_t seq, std::uint32_t ordinal) {
  if (role != record_role::step) {
    if (!others_.empty() && others_.back().seq() > seq) others_sorted_ = false;
    others_.push_back(other_place::at(role, seq));
    return;
  }
  const auto place = step_place::at(ordinal, seq);
  if (sorted_ < steps_.size()) {
    steps_.push_back(place);
    const auto unmerged = steps_.size() - sorted_;
    if (unmerged > unmerged_least + sorted_ / unmerged_share) merge();
    return;
  }
  if (steps_.empty() || steps_.back().ordinal < ordinal) {
    steps_.push_back(place);
    ++sorted_;
    return;
  }
  auto* found = std::lower_bound(steps_.begin(), steps_.end(), place,
                                 [](auto& a, auto& b) { return a.ordinal < b.ordinal; });
  if (found->ordinal != ordinal) {
    steps_.push_back(place);
    return;
  }
  const auto older = found->seq();
  *found = place;
  add(record_role::superseded, older, 0);
}

const compact_vector<step_place>& run_records::steps() {
  merge();
  return steps_;
}

const compact_vector<other_place>& run_records::others() {
  merge();
  if (!others_sorted_) std::sort(others_.begin(), others_.end());
  others_sorted_ = true;
  return others_;
}

std::vector<step_place> run_records::steps_from(std::uint64_t from, std::size_t limit) {
  merge();
  auto* first =
    std::lower_bound(steps_.begin(), steps_.end(), from,
                     [](auto& a, std::uint64_t ordinal) { return a.ordinal < ordinal; });
  const auto left = static_cast<std::size_t>(steps_.end() - first);
  return {first, first + std::min(limit, left)};
}

void run_records::merge() {
  if (sorted_ == steps_.size()) return;
  // What came late is put aside, then merged from the back into the room that it leaves.
  std::vector<step_place> late{steps_.begin() + sorted_, steps_.end()};
  std::sort(late.begin(), late.end(), by_ordinal_then_seq);
  auto out = steps_.size();
  for (auto a = sorted_; !late.empty();) {
    const bool take_late = a == 0 || by_ordinal_then_seq(steps_[a - 1], late.back());
    steps_[--out] = take_late ? late.back() : steps_[--a];
    if (take_late) late.pop_back();
  }
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    const bool newest = i + 1 == steps_.size() || steps_[i + 1].ordinal != steps_[i].ordinal;
    if (newest)
      steps_[kept++] = steps_[i];
    else
      add(record_role::superseded, steps_[i].seq(), 0);
  }
  steps_.shrink(kept);
  sorted_ = kept;
}

} // namespace sluice
