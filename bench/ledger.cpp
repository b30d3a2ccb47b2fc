#include "bench/ledger.hpp"

#include "base/json.hpp"

namespace sluice::bench {

namespace {

struct call_body {
  std::string run;
  std::string step;
  std::string key;
};

template <class Fields>
void describe(Fields& f, call_body& x) {
  f("run", x.run);
  f("step", x.step);
  f("key", x.key);
}

/// `call-12` is 12; 0 for anything else.
std::uint32_t number_of(const std::string& name) {
  const auto dash = name.rfind('-');
  if (dash == std::string::npos) return 0;
  return static_cast<std::uint32_t>(json::plain_integer(name.substr(dash + 1)).value_or(0));
}

http::response plain(int status) {
  http::response r;
  r.status = status;
  r.body = "{}";
  return r;
}

} // namespace

result<std::unique_ptr<call_ledger>> call_ledger::open() {
  std::unique_ptr<call_ledger> ledger{new call_ledger};
  auto started = http::server::start(
    {}, [raw = ledger.get()](http::request r, http::responder a) { raw->take(r, a); });
  if (!started) return std::move(started.error());
  ledger->server_ = std::move(*started);
  return ledger;
}

std::string call_ledger::url(std::uint32_t life) const {
  return "http://127.0.0.1:" + std::to_string(server_->port()) + "/life-" + std::to_string(life);
}

void call_ledger::take(const http::request& request, const http::responder& answer) {
  auto body = json::decode<call_body>(request.body);
  if (!body) return answer(plain(400));
  {
    std::lock_guard hold{lock_};
    auto& lives = calls_[body->run];
    lives[number_of(request.target)].push_back({number_of(body->step), body->key});
  }
  answer(plain(200));
}

ledger_verdict call_ledger::judge() const {
  std::lock_guard hold{lock_};
  ledger_verdict v;
  std::map<std::string, std::pair<std::string, std::uint32_t>> owners; // key → run and step
  for (const auto& [run, lives] : calls_) {
    ++v.runs;
    std::uint32_t highest = 0;
    std::uint32_t reached_in = 0;
    std::map<std::uint32_t, std::string> keys;
    for (const auto& [life, calls] : lives) {
      for (const auto& c : calls) {
        ++v.calls;
        if (c.step > highest + 1) ++v.skipped;
        if (c.step < highest) ++v.lost;
        if (c.step == highest) {
          ++v.repeated;
          if (life == reached_in) ++v.twice;
        }
        if (c.step >= highest) {
          highest = c.step;
          reached_in = life;
        }
        auto [mine, fresh] = keys.emplace(c.step, c.key);
        if (!fresh && mine->second != c.key) ++v.bad_keys;
        auto [owner, first] = owners.emplace(c.key, std::pair{run, c.step});
        if (!first && owner->second != std::pair{run, c.step}) ++v.bad_keys;
      }
    }
  }
  return v;
}

} // namespace sluice::bench
