#include "app/exit_code.hpp"

#include "app/output.hpp"
#include "base/redact.hpp"

#include <cstdio>
#include <string>

namespace sluice {

void complain(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const auto end = message.find('\n');
    text.append("sluice: ").append(printable(redact(message.substr(0, end)))).append("\n");
    message = end == std::string_view::npos ? std::string_view{} : message.substr(end + 1);
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

exit_code fail(const error& e, exit_code code) {
  auto detail = detail_of(e);
  complain(detail.empty() ? to_text(e) : detail);
  return code;
}

} // namespace sluice
