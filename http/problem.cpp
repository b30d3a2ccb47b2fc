#include "http/problem.hpp"

#include "base/clock.hpp"
#include "base/json.hpp"

namespace sluice::http {

response to_response(const problem& p, std::string_view operation, timestamp at) {
  json::writer w;
  w.obj().key("error").obj();
  w.key("code").str(p.code).key("message").str(p.message);
  w.key("details").raw(p.details).key("retryable").boolean(p.retryable).end();
  w.key("metadata").obj().key("operationId").str(operation);
  w.key("timestamp").str(to_rfc3339(at)).end().end();
  response r;
  r.status = p.status;
  r.body = w.take();
  return r;
}

} // namespace sluice::http
