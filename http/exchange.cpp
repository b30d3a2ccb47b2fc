#include "http/exchange.hpp"

#include <algorithm>
#include <atomic>

namespace sluice::http {

struct responder::state {
  explicit state(sender s) : send{std::move(s)} {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    if (!used) send(std::nullopt);
  }

  sender send;
  std::atomic<bool> used{false};
};

responder::responder(sender send) : state_{std::make_shared<state>(std::move(send))} {}

void responder::operator()(response r) const {
  if (state_ && !state_->used.exchange(true)) state_->send(std::move(r));
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view request::header(std::string_view name) const noexcept {
  for (const auto& f : headers) {
    if (same_name(f.name, name)) return f.value;
  }
  return {};
}

std::size_t request::count(std::string_view name) const noexcept {
  return static_cast<std::size_t>(
    std::ranges::count_if(headers, [&](const field& f) { return same_name(f.name, name); }));
}

} // namespace sluice::http
