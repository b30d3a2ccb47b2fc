#pragma once

#include "app/answer.hpp"
#include "app/client.hpp"
#include "tests/support/process.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

namespace sluice::test {

inline const std::string sluice_binary{SLUICE_BINARY};

/// The real binary, on a folder and a free port.
class live_node {
public:
  explicit live_node(const std::string& data, const std::map<std::string, std::string>& env = {})
    : process_{
        sluice_binary,
        {"node", "--data", data, "--listen", "127.0.0.1:0", "--port-file", files_.at("port")},
        env} {
    if (!within(10, [&] { return !read_file(files_.at("port")).empty(); }))
      throw std::runtime_error{"the node is not ready: " + process_.err()};
    auto port = read_file(files_.at("port"));
    port.pop_back();
    url_ = "http://127.0.0.1:" + port;
    auto made = client::make(url_);
    if (!made) throw std::runtime_error{"no client"};
    client_ = std::make_unique<client>(std::move(*made));
  }

  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  [[nodiscard]] std::string port() const { return url_.substr(url_.rfind(':') + 1); }
  [[nodiscard]] class process& process() noexcept { return process_; }

  /// The id of a run that was started.
  std::string start(const std::string& workflow, const std::string& input) {
    auto said =
      client_->post("runs", R"({"workflow":")" + workflow + R"(","input":)" + input + "}");
    if (!said) throw std::runtime_error{to_text(said.error())};
    return text_of(json::document::parse(*said)->root(), "runId");
  }

  /// GET, as JSON; throws what the node says.
  json::document get(const std::string& path) {
    auto said = client_->get(path);
    if (!said) throw std::runtime_error{to_text(said.error())};
    return std::move(*json::document::parse(*said));
  }

  std::string status(const std::string& run) {
    return text_of(get("runs/" + run).root(), "status");
  }
  std::string result(const std::string& run) {
    return text_of(get("runs/" + run).root(), "result");
  }

  /// Name and time of each step that is done.
  std::map<std::string, std::string> steps_done(const std::string& run) {
    std::map<std::string, std::string> done;
    const auto answer = get("runs/" + run);
    for (const auto& step : items_of(answer.root(), "steps")) {
      if (text_of(step, "status") == "done") done[text_of(step, "name")] = text_of(step, "at");
    }
    return done;
  }

  /// A command of the CLI that asks this node.
  finished cli(std::vector<std::string> args) {
    return run(sluice_binary, args, {{"SLUICE_URL", url_}});
  }

  static bool within(int seconds, const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{seconds};
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return true;
  }

private:
  temp_folder files_;
  class process process_;
  std::string url_;
  std::unique_ptr<client> client_;
};

} // namespace sluice::test
