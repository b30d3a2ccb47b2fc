#pragma once

#include "base/time.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a server hands to its handler and gets back.
namespace sluice::http {

class live_body;

struct field {
  std::string name;
  std::string value;
};

/// A whole request, within the server's limits. The target is in origin form: it begins with `/`,
/// or is `*`.
struct request {
  std::string method;
  std::string target;
  std::vector<field> headers;
  std::string body;

  /// The first header of that name, in any case; empty when absent.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
  [[nodiscard]] std::size_t count(std::string_view name) const noexcept;
};

/// The server adds length, connection and `X-Content-Type-Options`. A header of a name or value
/// that could end its line is left out.
struct response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<field> headers;
  /// Set: this is the body, sent as it is written; the connection is closed after it.
  std::shared_ptr<live_body> live{};

  // For servers that stand in for bad ones.
  duration delay{0};                      ///< it is sent so much later
  bool lost = false;                      ///< the connection is closed instead
  std::optional<std::size_t> cut_after{}; ///< or closed after so many bytes of the body
};

/// The right to answer one request: copyable, as messages must be, usable from every thread,
/// answers exactly once. When the last copy goes without an answer, the asker gets a 503.
class responder {
public:
  /// Called once: with the response, or with nothing when it was dropped.
  using sender = std::function<void(std::optional<response>)>;

  responder() = default;
  explicit responder(sender send);

  /// The first call counts, all others do nothing.
  void operator()(response r) const;

private:
  struct state;
  std::shared_ptr<state> state_;
};

/// Do two names of headers or hosts mean the same? ASCII letters compare in any case.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept;

} // namespace sluice::http
