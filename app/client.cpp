#include "app/client.hpp"

#include "base/json.hpp"

#include <chrono>
#include <future>
#include <utility>

namespace sluice {

namespace {

/// Longer than any run; a node that is gone without a word is found by its silence.
constexpr duration stream_timeout = std::chrono::hours{24 * 365};

http::curl_options loop_options() {
  http::curl_options o;
  // A stream that has nothing to tell says so every 15 s, in a few bytes.
  o.low_speed_bytes_per_s = 1;
  return o;
}

errc meaning_of(int status) {
  switch (status) {
  case 400:
    return errc::bad_input;
  case 404:
    return errc::not_found;
  case 409:
    return errc::conflict;
  case 413:
    return errc::too_large;
  case 503:
    return errc::unavailable;
  case 504:
    return errc::timed_out;
  default:
    return errc::internal;
  }
}

/// What a node says went wrong (J12); empty when this is no answer of a node.
std::string told(const std::string& body) {
  auto parsed = json::document::parse(body);
  if (!parsed) return {};
  auto error = parsed->root().find("error");
  auto message = error ? error->find("message") : std::nullopt;
  if (!message) return {};
  auto text = message->str();
  return text ? std::string{*text} : std::string{};
}

/// The whole answer as text, or one line about why there is none.
result<std::string> judge(http_response r, const std::string& where, duration timeout) {
  if (r.timed_out) {
    return make_error(errc::timed_out, "the node at " + where + " did not answer within "
                                         + std::to_string(timeout.count()) + " ms");
  }
  if (!r.error.empty() && r.status == 0) {
    return make_error(errc::network,
                      "no node answers at " + where + "; start one with `sluice node`");
  }
  if (!r.error.empty()) {
    return make_error(errc::network, "the answer of the node at " + where + " broke off");
  }
  const bool good = r.status >= 200 && r.status < 300;
  if (good && json::document::parse(r.body)) return std::move(r.body);
  auto message = good ? std::string{} : told(r.body);
  if (!message.empty()) return make_error(meaning_of(r.status), std::move(message));
  return make_error(errc::network, "what answers at " + where + " is no sluice node (status "
                                     + std::to_string(r.status) + ")");
}

} // namespace

std::string node_url(const std::optional<std::string>& flag,
                     const std::optional<std::string>& variable) {
  if (flag && !flag->empty()) return *flag;
  if (variable && !variable->empty()) return *variable;
  return default_node_url;
}

client::client(http::url base, duration timeout)
  : base_{std::move(base)}, timeout_{timeout},
    loop_{std::make_unique<http::curl_loop>(loop_options())} {}

result<client> client::make(std::string_view base_url, duration timeout) {
  auto base = http::url::parse(base_url);
  if (!base) {
    return make_error(errc::bad_input, "--url or SLUICE_URL: " + detail_of(base.error()));
  }
  return client{std::move(*base), timeout};
}

result<std::string> client::get(std::string_view path) {
  return ask({}, path);
}

result<std::string> client::post(std::string_view path, std::string json) {
  http_request r;
  r.method = "POST";
  r.headers.push_back({"Content-Type", "application/json"});
  r.body = std::move(json);
  return ask(std::move(r), path);
}

result<std::string> client::ask(http_request request, std::string_view path) {
  auto whole = base_.join(path);
  if (!whole) return whole.error();
  request.url = whole->text();
  request.timeout = timeout_;
  auto promise = std::make_shared<std::promise<http_response>>();
  auto answer = promise->get_future();
  loop_->start(++last_id_, std::move(request),
               [promise](std::uint64_t, http_response r) { promise->set_value(std::move(r)); });
  return judge(answer.get(), where(), timeout_);
}

std::shared_ptr<subscription> client::subscribe(std::string_view path) {
  auto heard = std::make_shared<subscription>();
  auto whole = base_.join(path);
  if (!whole) {
    heard->end(whole.error());
    return heard;
  }
  http_request request;
  request.url = whole->text();
  request.headers.push_back({"Accept", "text/event-stream"});
  request.timeout = stream_timeout;
  auto over = [heard, at = where(), limit = timeout_](std::uint64_t, http_response r) {
    const bool ended = r.error.empty() && r.status >= 200 && r.status < 300;
    if (ended) return heard->end({});
    auto judged = judge(std::move(r), at, limit);
    heard->end(judged ? error{} : judged.error());
  };
  loop_->start(++last_id_, std::move(request), std::move(over),
               [heard](std::string_view bytes) { heard->take(bytes); });
  return heard;
}

std::string client::where() const {
  auto text = base_.printable();
  if (text.ends_with('/')) text.pop_back();
  return text;
}

} // namespace sluice
