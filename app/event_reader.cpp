#include "app/event_reader.hpp"

#include <utility>

namespace sluice {

std::vector<told_event> event_reader::take(std::string_view bytes) {
  std::vector<told_event> whole;
  for (auto end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
    rest_.append(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    if (rest_.ends_with('\r')) rest_.pop_back();
    take_line(rest_, whole);
    rest_.clear();
  }
  rest_.append(bytes);
  return whole;
}

void event_reader::take_line(std::string_view line, std::vector<told_event>& whole) {
  if (line.empty()) {
    if (has_data_) whole.push_back(std::move(open_));
    open_ = {};
    has_data_ = false;
    return;
  }
  const auto colon = line.find(':');
  const auto field = line.substr(0, colon);
  auto value = colon == line.npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    open_.name = value;
  } else if (field == "data") {
    if (has_data_) open_.data.push_back('\n');
    open_.data.append(value);
    has_data_ = true;
  }
}

} // namespace sluice
