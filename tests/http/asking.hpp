#pragma once

#include "http/curl_loop.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>

namespace sluice::test {

/// A curl loop that a test can ask and wait for.
class asking {
public:
  explicit asking(http::curl_options options = {}) : loop_{std::move(options)} {}

  std::uint64_t start(http_request r, std::future<http_response>& answer) {
    auto promise = std::make_shared<std::promise<http_response>>();
    answer = promise->get_future();
    const auto id = ++last_id_;
    loop_.start(id, std::move(r), [promise](std::uint64_t, http_response response) {
      promise->set_value(std::move(response));
    });
    return id;
  }

  http_response ask(http_request r) {
    std::future<http_response> answer;
    start(std::move(r), answer);
    if (answer.wait_for(std::chrono::seconds{10}) != std::future_status::ready) {
      throw std::runtime_error{"no answer for ten seconds"};
    }
    return answer.get();
  }

  http::curl_loop& loop() noexcept { return loop_; }

private:
  std::atomic<std::uint64_t> last_id_{0};
  http::curl_loop loop_;
};

} // namespace sluice::test
