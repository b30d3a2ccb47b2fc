#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/mutant.hpp"
#include "rules/trace.hpp"
#include "workflows/context.hpp"
#include "workflows/machine.hpp"

#include <algorithm>

namespace sluice {

std::uint64_t machine::draw(std::string_view what) noexcept {
  std::string_view bytes{reinterpret_cast<const char*>(row_.id.value.bytes.data()), 16};
  return mix64(hash64(bytes, hash64(what)), drawn_++);
}

uuid context::make_uuid() noexcept {
  uuid id;
  for (std::size_t half = 0; half < 2; ++half) {
    auto bits = run_.draw("uuid");
    for (std::size_t i = 0; i < 8; ++i)
      id.bytes[half * 8 + i] = static_cast<std::uint8_t>(bits >> (8 * i));
  }
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x40);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
  return id;
}

std::optional<std::uint32_t> machine::version(std::string_view change, std::uint32_t newest,
                                              std::coroutine_handle<> waiter) {
  for (const auto& known : versions_)
    if (known.name == change)
      return static_cast<std::uint32_t>(json::plain_integer(known.payload).value_or(0));
  if (memo_at_ < memo_.size() || more_) return 0;
  if (park_reason_ || timed_out_) return {}; // its frames are about to go
  version_ = newest;
  step_record r;
  r.run = row_.id;
  r.ordinal = no_ordinal;
  r.kind = step_kind::version;
  r.at = out_->now;
  r.name = change;
  r.payload = std::to_string(newest);
  versions_.push_back(r);
  out_->ops.push_back(put_step{std::move(r)});
  out_->commits.push_back({self_, commit_of::version});
  waiter_ = waiter;
  return {};
}

void machine::ask_outside(outside_wait& wait, outside_question what) {
  wait.id = out_->next_token++;
  if (auto* request = std::get_if<http_request>(&what))
    request->headers.push_back(
      {"traceparent", child_traceparent(row_.traceparent, wait.id), false});
  outside_.push_back(&wait);
  out_->calls.push_back({self_, wait.id, std::move(what)});
}

void machine::forget_outside(outside_wait& wait) noexcept {
  auto known = std::find(outside_.begin(), outside_.end(), &wait);
  if (known == outside_.end()) return;
  outside_.erase(known);
  if (out_ != nullptr) out_->aborts.push_back(wait.id);
}

void machine::tell_gates(request_finished what) noexcept {
  if (out_ != nullptr) out_->finished.push_back(std::move(what));
}

void machine::recall_start(recall_wait& wait, std::optional<std::uint32_t> after) {
  recall_ = &wait;
  out_->loads.push_back({self_, row_.id, after, true});
}

void machine::unreadable(const operation& op, std::string_view why) {
  request_park("corrupt: the result of step '" + op.name()
               + "' cannot be read by this build: " + std::string{why});
}

std::string attempt::idempotency_key() const {
  const auto& id = run_.row().id.value.bytes;
  std::string bytes{reinterpret_cast<const char*>(id.data()), id.size()};
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(ordinal_ >> shift)));
  bytes.append(step_);
  if (mutated(mutant::key_contains_attempt)) bytes += std::to_string(number_);
  return to_hex(hash64(bytes, 1)) + to_hex(hash64(bytes, 2));
}

} // namespace sluice
