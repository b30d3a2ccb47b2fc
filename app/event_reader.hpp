#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// One event of a stream, as a node told it.
struct told_event {
  std::string name;
  std::string data;

  friend bool operator==(const told_event&, const told_event&) = default;
};

/// Reads text/event-stream, whatever pieces it comes in. Comments and fields that are neither
/// `event` nor `data` are passed over.
class event_reader {
public:
  /// The events that are whole with `bytes`.
  [[nodiscard]] std::vector<told_event> take(std::string_view bytes);

private:
  void take_line(std::string_view line, std::vector<told_event>& whole);

  std::string rest_;
  told_event open_;
  bool has_data_ = false;
};

} // namespace sluice
