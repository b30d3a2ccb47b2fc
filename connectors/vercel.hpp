#pragma once

#include "connectors/connector.hpp"

namespace sluice {

/// Vercel's REST API: the deployments of a project, newest first (B24).
///
/// Its pages are told apart by the creation time of their last item, in milliseconds, and several
/// items may share one. So the next page is asked with `until` one later than Vercel says, and the
/// items of that millisecond come twice; their ids are the same. A page whose items all share one
/// millisecond leads nowhere that way, and is an error instead of a loss.
class vercel_connector final : public connector {
public:
  [[nodiscard]] std::string_view provider() const override { return "vercel"; }
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
