#pragma once

#include "sandbox/service.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace sluice::sandbox {

/// The user's own service: tells about connections, gives out tokens, takes events.
class gateway {
public:
  explicit gateway(service_state& s) : state_{s} {}

  [[nodiscard]] http::response answer(const service_request& r);
  /// POST /webhooks/{provider}: the call that must be cheap.
  [[nodiscard]] http::response take_event(const http::request& r, std::string_view provider);

private:
  [[nodiscard]] std::optional<http::response> refusal(const http::request& r);
  [[nodiscard]] std::optional<http::response> fault(std::uint64_t what, std::uint32_t nth);
  [[nodiscard]] http::response route(const service_request& r);
  [[nodiscard]] http::response accept(const http::request& r, const envelope& e);
  [[nodiscard]] bool is_down();
  [[nodiscard]] http::response delayed(http::response r) const;

  service_state& state_;
  std::atomic<std::int64_t> down_from_ms_{0};
  std::mutex mutex_;
  std::map<std::string, std::uint32_t, std::less<>> calls_; ///< by path, when faults are wanted
};

} // namespace sluice::sandbox
