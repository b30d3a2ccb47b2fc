#pragma once

#include "api/call.hpp"
#include "api/run_view.hpp"
#include "http/live_body.hpp"
#include "messages/ids.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::api {

/// One event of a stream, as the wire has it (text/event-stream).
[[nodiscard]] std::string server_event(std::string_view name, std::string_view data);

/// A run that somebody watches: what they were told of it, so that they hear what changed only.
class watched_run {
public:
  /// A `progress` event with the units that changed; empty when nothing did.
  [[nodiscard]] std::string take_progress(const run_view& v);
  /// Adds a `log` event for each step that ended since the last call; true: there are more to load.
  bool take_steps(const run_view& v, std::string& told);
  /// All that a new client must know: the newest `log_max` steps and every unit.
  [[nodiscard]] std::string all() const;

  /// Where `take_steps` goes on.
  [[nodiscard]] std::optional<std::uint32_t> steps_after() const noexcept { return after_; }

  struct client {
    std::shared_ptr<http::live_body> body;
    timestamp told_at{};
  };

  std::vector<call_ptr> joining; ///< get their stream with the next look
  std::vector<client> clients;
  bool looking = false;

  static constexpr std::size_t log_max = 1000;

private:
  [[nodiscard]] std::string progress(const std::vector<const std::string*>& units) const;

  std::string head_; ///< the members that are no units, without the closing brace
  std::map<std::string, std::string> units_;
  std::deque<std::string> log_;
  std::optional<std::uint32_t> after_;
};

struct watch_book {
  std::map<run_id, watched_run> runs;
  bool ticking = false;

  [[nodiscard]] std::size_t clients() const noexcept;
};

} // namespace sluice::api
