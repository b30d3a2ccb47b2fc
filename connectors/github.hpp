#pragma once

#include "connectors/connector.hpp"

namespace sluice {

/// GitHub's REST API, also of an Enterprise Server below a path (B23).
///
/// | entity         | list                                     | ends                        |
/// | -------------- | ---------------------------------------- | --------------------------- |
/// | `pull_request` | newest update first                      | at the first one before since |
/// | `issue`        | oldest first, those updated since        | with the list               |
/// | `release`      | newest first: it knows no filter by time | with the list               |
///
/// A cursor is the target of GitHub's own `Link`. Repositories are asked for by name, where there
/// is one, and by id otherwise; a renamed one answers with a redirect, which the client follows.
class github_connector final : public connector {
public:
  [[nodiscard]] std::string_view provider() const override { return "github"; }
  [[nodiscard]] std::string_view default_base_url() const override;
  [[nodiscard]] std::vector<std::string> entities() const override;
  [[nodiscard]] std::vector<std::string> scopes(std::string_view entity) const override;
  [[nodiscard]] list_order order(std::string_view entity) const override;
  [[nodiscard]] std::string rate_bucket(std::string_view entity) const override;
  [[nodiscard]] result<std::string> first_cursor(const unit_scope& scope) const override;
  [[nodiscard]] std::optional<std::string> smaller(const std::string& cursor) const override;
  [[nodiscard]] result<http_request> request(const unit_scope& scope,
                                             const std::string& cursor) const override;
  [[nodiscard]] answer_verdict judge(const http_response& response, timestamp now) const override;
  [[nodiscard]] result<list_page> parse(const unit_scope& scope, const std::string& cursor,
                                        const http_response& response) const override;
  void write_payload(std::string& out, const unit_scope& scope,
                     const page_item& item) const override;
};

} // namespace sluice
