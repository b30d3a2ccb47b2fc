#include "tests/simulation/provider.hpp"

#include "tests/simulation/program.hpp"

#include <charconv>

namespace sluice::simulation {

namespace {

std::uint64_t parameter(const std::string& url, const std::string& name) {
  const auto at = url.find(name + "=");
  std::uint64_t value = 0;
  if (at == std::string::npos) return value;
  const auto* from = url.data() + at + name.size() + 1;
  std::from_chars(from, url.data() + url.size(), value);
  return value;
}

std::string key_of(const http_request& request) {
  for (const auto& h : request.headers)
    if (h.name == "Idempotency-Key") return h.value;
  return {};
}

} // namespace

http_response scripted_provider::answer(const http_request& request) {
  ++requests_;
  const auto path = request.url.substr(0, request.url.find('?'));
  const auto key = key_of(request);
  auto& known = places_[path];
  if (known.key.empty()) known.key = key;
  if (known.key != key)
    found_.report("I9", path + " was asked for under two keys: " + known.key + " and " + key);
  const auto [owner, fresh] = owners_.emplace(key, path);
  if (!fresh && owner->second != path)
    found_.report("I9", path + " and " + owner->second + " came under one key");

  const auto how = static_cast<trouble>(parameter(request.url, "how"));
  http_response response;
  response.status = 200;
  const auto space = request.body.find(' ');
  response.body = provider_value(std::string_view{request.body}.substr(0, space),
                                 std::string_view{request.body}.substr(space + 1));
  if (how == trouble::final) {
    response.status = 400;
  } else if (known.requests++ < parameter(request.url, "fails")) {
    switch (how) {
    case trouble::error:
      response.status = 503;
      break;
    case trouble::later:
      response.status = 429;
      break;
    case trouble::vanish:
      response.error = "no answer in time";
      response.timed_out = true;
      break;
    case trouble::none:
    case trouble::gate:
    case trouble::gate_away:
    case trouble::final:
      return response;
    }
    ++faults_;
  }
  return response;
}

} // namespace sluice::simulation
